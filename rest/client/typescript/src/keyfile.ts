import { createFile, replaceFile } from "./lines.js";
import { originOf } from "./requests.js";

/** Everything that an agent must not lose, in the format of the Go client's key file, which has mode 0600. */
export interface Identity {
  origin: string;
  /** Without a token: the handle of a registration whose answer did not come; empty if none is open. */
  handle: string;
  /** Empty until the registration was answered, as token. */
  id: string;
  token: string;
  private_key: string;
}

/** Reads a key file, in Node. Refuses a file that others may read. */
export async function loadKeyFile(path: string): Promise<Identity> {
  const { readFile, stat } = await import("node:fs/promises");
  if ((await stat(path)).mode & 0o077) {
    throw new Error(`others may read ${path}, which holds a private key: chmod 600 it`);
  }
  let identity: Identity | undefined;
  try {
    identity = JSON.parse(await readFile(path, "utf8")) as Identity;
  } catch { // the error would quote the file
    throw new Error(`${path} is no key file`);
  }
  if (!identity?.private_key || !identity.origin) {
    throw new Error(`${path} is no key file`);
  }
  return identity;
}

/** Reads a key file as loadKeyFile; undefined if there is none. */
export async function findKeyFile(path: string): Promise<Identity | undefined> {
  return loadKeyFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") {
      throw error;
    }
    return undefined;
  });
}

/** Writes a key file as a whole, in Node: a crash leaves either the old or the new file. */
export function saveKeyFile(path: string, identity: Identity): Promise<void> {
  return replaceFile(path, textOf(identity));
}

/** Throws if a key file is for another server: a key and its token belong to one server. */
export function ofServer(path: string, identity: Identity, origin: string): void {
  if (originOf(identity.origin) !== originOf(origin)) {
    throw new Error(`${path} belongs to an agent of ${identity.origin}, not of ${origin}`);
  }
}

/** Makes a key file; returns false, and changes nothing, if the path is taken. */
export function newKeyFile(path: string, identity: Identity): Promise<boolean> {
  return createFile(path, textOf(identity));
}

function textOf(identity: Identity): string {
  return `${JSON.stringify(identity, undefined, 2)}\n`;
}
