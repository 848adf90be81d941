import { replaceFile } from "./lines.js";
/** Reads a key file, in Node. Refuses one that others may read. */
export async function loadKeyFile(path) {
    const { readFile, stat } = await import("node:fs/promises");
    if ((await stat(path)).mode & 0o077) {
        throw new Error(`others may read ${path}, which holds a private key: chmod 600 it`);
    }
    return JSON.parse(await readFile(path, "utf8"));
}
/** Writes a key file as a whole, in Node: a crash leaves either the one before or the new one. */
export function saveKeyFile(path, identity) {
    return replaceFile(path, `${JSON.stringify(identity, undefined, 2)}\n`);
}
