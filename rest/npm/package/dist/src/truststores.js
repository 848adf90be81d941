import { hex, sha256, utf8 } from "./bytes.js";
import { answerOf } from "./indexeddb.js";
import { appendLine, readLines, replaceFile } from "./lines.js";
// The maximum number of evidence files beside one trust file, so that a server cannot fill the disk.
const maxEvidence = 40;
/** Keeps pins and heads in a file of mode 0600, one JSON object a line, in Node. The client for Go uses the same file. */
export class FileTrustStore {
    path;
    constructor(path) {
        this.path = path;
    }
    async read() {
        return (await readLines(this.path)).flatMap((line) => {
            try {
                return [JSON.parse(line)];
            }
            catch {
                return []; // a line that a crash has cut
            }
        });
    }
    append(line) {
        return appendLine(this.path, JSON.stringify(line));
    }
    /** Writes both beside the file. The same evidence gets the same name. */
    async evidence({ kept, served }) {
        const { readdir } = await import("node:fs/promises");
        const { basename, dirname } = await import("node:path");
        const beside = await readdir(dirname(this.path)).catch(() => []); // no evidence in a folder that cannot be read
        if (beside.filter((name) => name.startsWith(`${basename(this.path)}.fork.`)).length >= maxEvidence) {
            return undefined;
        }
        const sum = await sha256(utf8(`${kept}\n${served}`));
        const name = `${this.path}.fork.${hex(sum.subarray(0, 4))}`;
        await replaceFile(`${name}.kept`, kept);
        await replaceFile(`${name}.served`, served);
        return name;
    }
}
const table = "pins";
/** Keeps pins in IndexedDB, in browsers: one agent's pins under one name. */
export class IndexedDBTrustStore {
    #database;
    constructor(name) {
        const opening = indexedDB.open(name, 1);
        opening.onupgradeneeded = () => void opening.result.createObjectStore(table, { autoIncrement: true });
        this.#database = answerOf(opening);
        this.#database.catch(() => undefined); // read and append report the error
    }
    async read() {
        return answerOf((await this.#database).transaction(table).objectStore(table).getAll());
    }
    async append(line) {
        const writing = (await this.#database).transaction(table, "readwrite", { durability: "strict" });
        writing.objectStore(table).add(line);
        await new Promise((resolve, reject) => {
            writing.oncomplete = () => resolve();
            writing.onerror = writing.onabort = () => reject(writing.error ?? new Error("the pin was not written"));
        });
    }
}
/** The default store of an agent's pins: IndexedDB, in browsers. */
export function browserTrust(origin, keys) {
    if (typeof indexedDB === "undefined") {
        throw new Error("say where the keys of other agents are kept: trust: new FileTrustStore(path)");
    }
    return new IndexedDBTrustStore(`stoa trust ${origin.replace(/\/+$/, "")} ${keys.publicKey}`);
}
