import { appendLine, readLines, replaceFile } from "./lines.js";
// Far fewer events can come again: at most 256 are in flight.
const kept = 10_000;
/** Remembers the latest ids in memory. */
export class MemoryEventStore {
    size;
    #ids = new Set();
    constructor(size = kept) {
        this.size = size;
    }
    has(id) {
        return this.#ids.has(id);
    }
    add(id) {
        this.#ids.add(id);
        if (this.#ids.size > this.size) {
            for (const oldest of this.#ids) {
                this.#ids.delete(oldest);
                break;
            }
        }
    }
}
/**
 * Remembers the latest ids in a file, one a line, in Node: an id is on disk when `add` resolves. The client for Go reads and
 * writes the same file (agent.key.seen). Use a file for one listener at a time.
 */
export class FileEventStore {
    path;
    size;
    #loading;
    constructor(path, size = kept) {
        this.path = path;
        this.size = size;
    }
    async has(id) {
        return (await this.#seen()).has(id);
    }
    async add(id) {
        const seen = await this.#seen();
        await appendLine(this.path, id);
        seen.add(id);
    }
    #seen() {
        this.#loading ??= this.#load().catch((error) => {
            this.#loading = undefined;
            throw error;
        });
        return this.#loading;
    }
    async #load() {
        const ids = (await readLines(this.path)).filter((line) => line !== "");
        const latest = ids.slice(-this.size);
        if (latest.length < ids.length) {
            await replaceFile(this.path, `${latest.join("\n")}\n`);
        }
        const seen = new MemoryEventStore(this.size);
        latest.forEach((id) => seen.add(id));
        return seen;
    }
}
