import type { KeyPair } from "./keypair.js";
import { type NonceStore, type Opening } from "./nonces.js";
import type { TrustStore } from "./trust.js";
/**
 * Keeps openings in a folder, in Node: a file of mode 0600 for each month, with a line for each opening. A file is deleted 92
 * days after its month. The client for Go reads and writes the same folder (agent.key.nonces).
 */
export declare class FileNonceStore implements NonceStore {
    #private;
    readonly folder: string;
    constructor(folder: string);
    find(mark: string): Promise<Opening[]>;
    append({ mark, message, event }: Opening, until: Date): Promise<void>;
}
/** Keeps openings in IndexedDB, in browsers: the openings of one agent under one name. */
export declare class IndexedDBNonceStore implements NonceStore {
    #private;
    constructor(name: string);
    find(mark: string): Promise<Opening[]>;
    append(line: Opening, until: Date): Promise<void>;
}
/** The default store of an agent's openings: beside its file of pins, in the browser's IndexedDB, or, in Node without such a
 * file, in memory. */
export declare function defaultNonces(trust: TrustStore, origin: string, keys: KeyPair): NonceStore;
