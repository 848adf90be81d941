import type { KeyPair } from "./keypair.js";
import { appendLine } from "./lines.js";
import { keptFor, MemoryNonceStore, type NonceStore, type Opening } from "./nonces.js";
import { answerOf } from "./indexeddb.js";
import { FileTrustStore } from "./truststores.js";
import type { TrustStore } from "./trust.js";

const line = /^([\w-]{24}) ([0-9a-f-]{36}) (-|[0-9a-f-]{36})$/;
const monthName = /^\d{4}-(0[1-9]|1[0-2])$/;

/**
 * Keeps openings in a folder, in Node: a file of mode 0600 for each month, with a line for each opening. A file is deleted 92
 * days after its month. The client for Go reads and writes the same folder (agent.key.nonces).
 */
export class FileNonceStore implements NonceStore {
  // For each month, the number of bytes of its file that were read, and its openings.
  readonly #months = new Map<string, { read: number; openings: Map<string, Opening[]> }>();
  #reading: Promise<void> = Promise.resolve();

  constructor(readonly folder: string) {}

  async find(mark: string): Promise<Opening[]> {
    const reading = this.#reading.then(() => this.#load());
    this.#reading = reading.catch(() => undefined); // the next call reads again
    await reading;
    return [...this.#months.keys()].sort().flatMap((name) => this.#months.get(name)!.openings.get(mark) ?? []);
  }

  async append({ mark, message, event }: Opening, until: Date): Promise<void> {
    const { mkdir } = await import("node:fs/promises");
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const month = new Date(until.getTime() - keptFor).toISOString().slice(0, 7);
    await appendLine(`${this.folder}/${month}`, `${mark} ${message} ${event ?? "-"}`);
  }

  /** Reads the lines that any program has appended since the last time, and deletes expired files. */
  async #load(): Promise<void> {
    const { readdir, rm } = await import("node:fs/promises");
    const names = await readdir(this.folder).catch(unlessMissing<string[]>([]));
    for (const name of names.filter((name) => monthName.test(name))) {
      const [year, month] = name.split("-").map(Number) as [number, number];
      if (Date.UTC(year, month) + keptFor < Date.now()) { // Date.UTC counts months from 0: the start of the next month
        this.#months.delete(name);
        await rm(`${this.folder}/${name}`, { force: true });
      } else {
        await this.#loadMonth(name);
      }
    }
  }

  async #loadMonth(name: string): Promise<void> {
    const { open } = await import("node:fs/promises");
    const file = await open(`${this.folder}/${name}`, "r").catch(unlessMissing(undefined)); // another program may have deleted it
    if (!file) {
      return;
    }
    const kept = this.#months.get(name) ?? { read: 0, openings: new Map<string, Opening[]>() };
    this.#months.set(name, kept);
    try {
      const { size } = await file.stat();
      if (size < kept.read) { // the file was replaced; known lines stay
        kept.read = 0;
      }
      const raw = Buffer.alloc(size - kept.read);
      const { bytesRead } = await file.read(raw, 0, raw.length, kept.read);
      // The rest is being written, or a crash has cut it.
      const whole = raw.subarray(0, raw.subarray(0, bytesRead).lastIndexOf("\n") + 1);
      for (const text of whole.toString().split("\n")) {
        const [, mark, message, event] = line.exec(text) ?? [];
        if (mark && message && event) {
          kept.openings.set(mark, [...(kept.openings.get(mark) ?? []), { mark, message, ...(event === "-" ? {} : { event }) }]);
        }
      }
      kept.read += whole.length;
    } finally {
      await file.close();
    }
  }
}

function unlessMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") {
      return instead;
    }
    throw error;
  };
}

const table = "openings";

/** Keeps openings in IndexedDB, in browsers: the openings of one agent under one name. */
export class IndexedDBNonceStore implements NonceStore {
  readonly #database: Promise<IDBDatabase>;

  constructor(name: string) {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      const store = opening.result.createObjectStore(table, { autoIncrement: true });
      store.createIndex("mark", "mark");
      store.createIndex("until", "until");
    };
    this.#database = answerOf(opening);
    this.#database.catch(() => undefined); // find and append report the error
  }

  async find(mark: string): Promise<Opening[]> {
    const lines = (await this.#database).transaction(table).objectStore(table).index("mark");
    return answerOf(lines.getAll(mark) as IDBRequest<Opening[]>);
  }

  async append(line: Opening, until: Date): Promise<void> {
    const writing = (await this.#database).transaction(table, "readwrite", { durability: "strict" });
    const store = writing.objectStore(table);
    const old = store.index("until").openKeyCursor(IDBKeyRange.upperBound(Date.now(), true));
    old.onsuccess = () => {
      if (old.result) {
        store.delete(old.result.primaryKey);
        old.result.continue();
      }
    };
    store.add({ ...line, until: until.getTime() });
    await new Promise<void>((resolve, reject) => {
      writing.oncomplete = () => resolve();
      writing.onerror = writing.onabort = () => reject(writing.error ?? new Error("the opening was not written"));
    });
  }
}

/** The default store of an agent's openings: beside its file of pins, in the browser's IndexedDB, or, in Node without such a
 * file, in memory. */
export function defaultNonces(trust: TrustStore, origin: string, keys: KeyPair): NonceStore {
  if (trust instanceof FileTrustStore) {
    return new FileNonceStore(`${trust.path.replace(/\.trust$/, "")}.nonces`);
  }
  if (typeof indexedDB !== "undefined") {
    return new IndexedDBNonceStore(`stoa nonces ${origin.replace(/\/+$/, "")} ${keys.publicKey}`);
  }
  return new MemoryNonceStore();
}
