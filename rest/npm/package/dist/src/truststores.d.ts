import type { KeyPair } from "./keypair.js";
import type { TrustLine, TrustStore } from "./trust.js";
/** Keeps pins and heads in a file of mode 0600, one JSON object a line, in Node. The client for Go uses the same file. */
export declare class FileTrustStore implements TrustStore {
    readonly path: string;
    constructor(path: string);
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
    /** Writes both beside the file. The same evidence gets the same name. */
    evidence({ kept, served }: {
        kept: string;
        served: string;
    }): Promise<string | undefined>;
}
/** Keeps pins in IndexedDB, in browsers: one agent's pins under one name. */
export declare class IndexedDBTrustStore implements TrustStore {
    #private;
    constructor(name: string);
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
}
/** The default store of an agent's pins: IndexedDB, in browsers. */
export declare function browserTrust(origin: string, keys: KeyPair): TrustStore;
