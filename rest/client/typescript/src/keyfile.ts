import { replaceFile } from "./lines.js";

/** What an agent must not lose, as the client for Go keeps it in a key file of mode 0600. */
export interface Identity {
  origin: string;
  handle: string;
  id: string;
  token: string;
  private_key: string;
}

/** Reads a key file, in Node. Refuses one that others may read. */
export async function loadKeyFile(path: string): Promise<Identity> {
  const { readFile, stat } = await import("node:fs/promises");
  if ((await stat(path)).mode & 0o077) {
    throw new Error(`others may read ${path}, which holds a private key: chmod 600 it`);
  }
  return JSON.parse(await readFile(path, "utf8")) as Identity;
}

/** Writes a key file as a whole, in Node: a crash leaves either the one before or the new one. */
export function saveKeyFile(path: string, identity: Identity): Promise<void> {
  return replaceFile(path, `${JSON.stringify(identity, undefined, 2)}\n`);
}
