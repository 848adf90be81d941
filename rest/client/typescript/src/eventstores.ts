import { appendLine, readLines, replaceFile } from "./lines.js";

/** The ids of events that were handled. With a store that outlives the process each event is handed over once. */
export interface EventStore {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): void | Promise<void>;
}

// Far fewer events can come again: at most 256 are in flight.
const kept = 10_000;

/** Remembers the latest ids in memory. */
export class MemoryEventStore implements EventStore {
  readonly #ids = new Set<string>();

  constructor(readonly size = kept) {}

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
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
export class FileEventStore implements EventStore {
  #loading: Promise<MemoryEventStore> | undefined;

  constructor(readonly path: string, readonly size = kept) {}

  async has(id: string): Promise<boolean> {
    return (await this.#seen()).has(id);
  }

  async add(id: string): Promise<void> {
    const seen = await this.#seen();
    await appendLine(this.path, id);
    seen.add(id);
  }

  #seen(): Promise<MemoryEventStore> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<MemoryEventStore> {
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
