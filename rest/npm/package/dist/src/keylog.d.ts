/** A head of a log. */
export interface LogHead {
    origin: string;
    size: number;
    root: Uint8Array;
}
/** A head whose signatures were checked. by has the time of each known witness's signature, in Unix seconds, by its name. */
export interface WitnessedHead extends LogHead {
    /** The signed note as it came. */
    note: string;
    by: Map<string, number>;
}
/** A vkey that was read. */
export interface LogKey {
    name: string;
    id: string;
    kind: number;
    publicKey: Uint8Array;
}
/** A statement of a log is false, or malformed. */
export declare class LogError extends Error {
    readonly code: "malformed" | "unsigned" | "wrong_signature" | "not_included" | "inconsistent";
    constructor(code: "malformed" | "unsigned" | "wrong_signature" | "not_included" | "inconsistent", message: string);
}
export declare const kindOfLog = 1;
export declare const kindOfWitness = 4;
/** Reads the vkey of a log or, with kindOfWitness, of a witness. */
export declare function parseVkey(vkey: string, kind: number): Promise<LogKey>;
/** The vkey of a log with that origin and key. */
export declare function logVkey(origin: string, publicKey: Uint8Array): Promise<string>;
/** Reads the text of a checkpoint. It ignores lines after the third, which are extensions. */
export declare function parseHead(text: string): LogHead;
/**
 * Checks a signed checkpoint of the log with that key. A signature by a known witness must be sound; other signatures do not
 * count. Throws a LogError "unsigned" if the log has not signed, "wrong_signature" for a signature that is not sound.
 */
export declare function openCheckpoint(signed: string, log: LogKey, witnesses?: LogKey[]): Promise<WitnessedHead>;
/** The data that an agent's entry commits to, as the server's JSON writes them. */
export interface LoggedAgent {
    id: string;
    handle: string;
    key: string;
    created_at: string;
}
/** The entry of an agent in the log of a host, whose commitment the salt opens. */
export declare function agentEntry(host: string, salt: Uint8Array, agent: LoggedAgent): Promise<Uint8Array>;
/** The entry that announces a key of the server: the log's key, or a key that signs receipts. */
export declare function keyEntry(purpose: "log" | "receipts", publicKey: Uint8Array): Promise<Uint8Array>;
/** The entry of a signed document, whose commitment the salt opens. */
export declare function receiptEntry(salt: Uint8Array, jws: string): Promise<Uint8Array>;
/** The first entry of a new epoch of a log: the origin and the root of the former log. */
export declare function epochEntry(former: string, root: Uint8Array): Promise<Uint8Array>;
/** A Merkle tree that only grows: it keeps the hashes of its full subtrees from left to right, the largest first. */
export declare class LogTree {
    #private;
    size: number;
    /** Adds an entry: one merge of full subtrees for each binary one at the end of the old size. */
    append(entry: Uint8Array): Promise<void>;
    root(): Promise<Uint8Array>;
}
/** A proof that an entry is in the log, by C2SP tlog-proof. */
export interface LogProof {
    index: number;
    hashes: Uint8Array[];
    checkpoint: string;
}
export declare function parseProof(text: string): LogProof;
export declare function parseHashes(lines: string[]): Uint8Array[];
/** Throws a LogError "not_included" unless the hashes show that the entry has that index in the tree of a head. */
export declare function checkIncluded(head: LogHead, index: number, entry: Uint8Array, hashes: Uint8Array[]): Promise<void>;
/** Throws a LogError "inconsistent" unless a newer head continues an older one of the same origin. */
export declare function checkConsistent(older: LogHead, newer: LogHead, hashes: Uint8Array[]): Promise<void>;
/** The path of a tile of entries below the log's path, and its number of entries, in a log of that size. */
export declare function entriesTile(n: number, size: number): {
    path: string;
    width: number;
};
/** The entries of a tile. */
export declare function parseEntries(tile: Uint8Array): Uint8Array[];
/** The host and the epoch of an origin. */
export declare function hostOf(origin: string): {
    host: string;
    epoch: number;
};
