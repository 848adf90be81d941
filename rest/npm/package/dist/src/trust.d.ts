/** The key by which this agent knows another one, as a line of FILE.trust (docs/clients.md). */
export interface Pin {
    id: string;
    /** Missing until the server has named it beside the key. */
    handle?: string;
    /** The public key in base64. */
    key?: string;
    /** The evidence for the key: tofu, trust on first use; log, the key log; fingerprint, a person who compared it. */
    via?: string;
    /** The index of the agent's entry, if the key log vouches for the key. */
    index?: number;
    /** When it was written. */
    at: string;
    /** Marks a line that removes the agent's pin. */
    removed?: boolean;
}
/** A head of the server's key log that was checked. */
export interface KeptHead {
    origin: string;
    /** The key of the log under which the head was checked. */
    vkey: string;
    size: number;
    /** The root in base64. */
    root: string;
    /** The signed note. */
    checkpoint: string;
    /** The number of earlier heads in the store that it was proven to continue. */
    over: number;
    /** Set if the log has a new key since this head, or if the head begins a new epoch. */
    accepted?: "rotation" | "epoch";
}
/** A line that keeps a head. */
export interface LogLine {
    log: KeptHead;
    at: string;
}
export type TrustLine = Pin | LogLine;
/** The kept state of the log: its key, the heads that the next head must continue, and the largest of these heads. */
export interface KeptLog {
    vkey: string;
    rotated: boolean;
    open: KeptHead[];
    newest: KeptHead | undefined;
    count: number;
}
/**
 * Stores pins and heads of the key log: lines are only appended, and are stored when append resolves. Several programs may share
 * a store.
 */
export interface TrustStore {
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
    /** Keeps evidence that a log lies; returns its place, or undefined if there is enough earlier evidence. */
    evidence?(of: {
        kept: string;
        served: string;
    }): Promise<string | undefined>;
}
/** Keeps pins in memory: for tests, and for agents that end with the process. */
export declare class MemoryTrustStore implements TrustStore {
    #private;
    read(): Promise<TrustLine[]>;
    append(line: TrustLine): Promise<void>;
}
/** An agent as every record shows it. A deleted agent has no key. */
export interface Named {
    id: string;
    handle?: string | undefined;
    encryption_public_key: string | null;
}
/** The keys of other agents, from their first use on. Of two pins of one agent or one handle the first counts. */
export declare class Trust {
    #private;
    readonly store: TrustStore;
    constructor(store: TrustStore);
    /** Pins an agent's key at its first use, without the key log; throws a TrustError if the agent, or the handle, is known by
     * another key. */
    check(agent: Named): Promise<void>;
    /** Pins an agent, or marks its pin as proven by more than first use. */
    pin(agent: Named, via: string, index?: number): Promise<void>;
    /** Like check, but without pinning: reports whether the agent is pinned with this key and handle. */
    compare(agent: Named): Promise<boolean>;
    /** Whether an agent with this key and handle matches the pins. without_handle: id and key are pinned, but not the handle that
     * the server now names. */
    knows(agent: Named): Promise<"unknown" | "without_handle" | "pinned">;
    /** The agents that are pinned, by id. */
    pins(): Promise<Map<string, Pin>>;
    /** The kept state of the server's key log. */
    log(): Promise<KeptLog>;
    /** Keeps a head that continues all of kept, unless nothing has changed. */
    keep(head: KeptHead, kept: KeptLog): Promise<void>;
    /** Forgets the pin of an agent, by id or handle, so that its next use pins the key that the server names then. */
    unpin(idOrHandle: string): Promise<Pin>;
}
/** A handle as people write it: with an @ before it, and with capitals. */
export declare function handleOf(written: string): string;
/** The fingerprint of a public key in base64, which people compare; the key itself if the runtime has no SHA-256. */
export declare function fingerprint(key: string): Promise<string>;
