import type { KeptLog } from "./trust.js";
/** The new epoch of a log, after acceptEpoch has accepted it. */
export interface AcceptedEpoch {
    origin: string;
    formerOrigin: string;
    vkey: string;
    size: number;
    /** The operator's reason for the new epoch. */
    reason: string;
    /** The number of entries of the former log that were seen, and the number of these that the new log still has. */
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
/** Thrown if a new log does not follow the former one. */
export declare class NotFollowing extends Error {
}
/**
 * Reads the entries of a new log with that head in order: the first must name the end of the former log, whose entries follow and
 * must agree with the kept heads. Returns the number of kept entries that are left.
 */
export declare function followEpoch(head: {
    size: number;
    root: Uint8Array;
}, ended: EndedEpoch, kept: KeptLog, entries: AsyncIterable<Uint8Array>): Promise<number>;
