import type { KeptLog } from "./trust.js";
/** A log that was begun anew and that acceptEpoch has accepted. */
export interface AcceptedEpoch {
    origin: string;
    formerOrigin: string;
    vkey: string;
    size: number;
    /** Why the operator began it anew. */
    reason: string;
    /** How many entries of the former log were seen, and how many of them the new one still has. */
    kept: number;
    left: number;
}
/** A log that has ended, as the server publishes it. */
export interface EndedEpoch {
    origin: string;
    size: number;
    root: string;
    reason: string;
}
/** What shows that a new log does not follow the former one. */
export declare class NotFollowing extends Error {
}
/**
 * Reads the entries of a new log, with that head, in their order: the first must name the end of the log before it, whose entries follow, and
 * the kept heads of that log must be among them. Returns how many of the kept entries are left.
 */
export declare function followEpoch(head: {
    size: number;
    root: Uint8Array;
}, ended: EndedEpoch, kept: KeptLog, entries: AsyncIterable<Uint8Array>): Promise<number>;
