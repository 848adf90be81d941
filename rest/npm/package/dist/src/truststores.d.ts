import type { KeyPair } from "./keypair.js";
import type { TrustLine, TrustStore } from "./trust.js";
/** Keeps pins and heads in a file of mode 0600, one as JSON a line, in Node. The client for Go reads and writes the same file. */
export declare class FileTrustStore implements TrustStore {
    readonly path: string;
    constructor(path: string);
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
    /** Writes both beside the file, under a name that the same evidence has again. */
    evidence({ kept, served }: {
        kept: string;
        served: string;
    }): Promise<string | undefined>;
}
/** Keeps pins in IndexedDB, in browsers: those of one agent under one name. */
export declare class IndexedDBTrustStore implements TrustStore {
    #private;
    constructor(name: string);
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
}
/** Where an agent's pins are kept unless it names another place: in browsers, which have IndexedDB. */
export declare function browserTrust(origin: string, keys: KeyPair): TrustStore;
