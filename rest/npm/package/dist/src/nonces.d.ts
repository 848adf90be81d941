/** An opened message: its id on the server, and the event that brought it, missing if it was read in a list. */
export interface Opening {
    mark: string;
    message: string;
    event?: string;
}
/** Stores openings for at least 92 days: lines are only appended, and are stored when append resolves. Several programs may share
 * a store. */
export interface NonceStore {
    /** The lines that were appended with that mark, in the order of appending. */
    find(mark: string): Promise<Opening[]>;
    /** until is the time until which the line is needed. */
    append(line: Opening, until: Date): Promise<void>;
}
/** The minimum time for which an opening is remembered: one day longer than a bound message can be opened. */
export declare const keptFor: number;
/** Keeps openings in memory: for tests, and for agents that end with the process. */
export declare class MemoryNonceStore implements NonceStore {
    #private;
    find(mark: string): Promise<Opening[]>;
    append(line: Opening, until: Date): Promise<void>;
}
/** Remembers each opened message, so that a server cannot show one message as two: a nonce, under one pair of keys,
 * belongs to one message and to one event. */
export declare class Nonces {
    #private;
    readonly store: NonceStore;
    constructor(store: NonceStore);
    /** Remembers that the message with that id is opened, brought by an event or read in a list. Throws a TrustError if its nonce
     * was opened as another message or by another event. sealed is the time at which a bound message was sealed. */
    claim(peerKey: string, nonce: string, messageId: string, eventId: string | undefined, sealed?: Date): Promise<void>;
}
