import type { KeyPair } from "./keypair.js";
import type { Pin, TrustStore } from "./trust.js";
/** Keeps pins in a file of mode 0600, one as JSON a line, in Node. The client for Go reads and writes the same file. */
export declare class FileTrustStore implements TrustStore {
    readonly path: string;
    constructor(path: string);
    read(): Promise<Pin[]>;
    append(line: Pin): Promise<void>;
}
/** Keeps pins in IndexedDB, in browsers: those of one agent under one name. */
export declare class IndexedDBTrustStore implements TrustStore {
    #private;
    constructor(name: string);
    read(): Promise<Pin[]>;
    append(line: Pin): Promise<void>;
}
/** Where an agent's pins are kept unless it names another place: in browsers, which have IndexedDB. */
export declare function browserTrust(origin: string, keys: KeyPair): TrustStore;
