import type { Pin, TrustStore } from "./trust.js";

/** Keeps pins in a file of mode 0600, one as JSON a line, in Node. The client for Go reads and writes the same file. */
export class FileTrustStore implements TrustStore {
  constructor(readonly path: string) {}

  async read(): Promise<Pin[]> {
    const { readFile } = await import("node:fs/promises");
    const raw = await readFile(this.path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") {
        return "";
      }
      throw error;
    });
    return raw.split("\n").flatMap((line) => {
      try {
        return [JSON.parse(line) as Pin];
      } catch {
        return []; // what a crash has cut is no line
      }
    });
  }

  async append(line: Pin): Promise<void> {
    const { open } = await import("node:fs/promises");
    const file = await open(this.path, "a+", 0o600);
    try {
      const { size } = await file.stat();
      const last = size === 0 ? "\n" : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
      await file.write(`${last === "\n" ? "" : "\n"}${JSON.stringify(line)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

const table = "pins";

/** Keeps pins in IndexedDB, in browsers: those of one agent under one name. */
export class IndexedDBTrustStore implements TrustStore {
  readonly #database: Promise<IDBDatabase>;

  constructor(name: string) {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => void opening.result.createObjectStore(table, { autoIncrement: true });
    this.#database = answerOf(opening);
    this.#database.catch(() => undefined); // read and append report the error
  }

  async read(): Promise<Pin[]> {
    return answerOf((await this.#database).transaction(table).objectStore(table).getAll() as IDBRequest<Pin[]>);
  }

  async append(line: Pin): Promise<void> {
    const writing = (await this.#database).transaction(table, "readwrite", { durability: "strict" });
    writing.objectStore(table).add(line);
    await new Promise<void>((resolve, reject) => {
      writing.oncomplete = () => resolve();
      writing.onerror = writing.onabort = () => reject(writing.error ?? new Error("the pin was not written"));
    });
  }
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB does not answer"));
  });
}
