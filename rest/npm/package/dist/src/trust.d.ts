/** The key by which this agent knows another one, as a line of FILE.trust (docs/clients.md). */
export interface Pin {
    id: string;
    /** Missing until the server has named one beside the key. */
    handle?: string;
    /** The public key in base64. */
    key?: string;
    /** What vouches for the key: tofu, trust on first use. */
    via?: string;
    /** When it was written. */
    at: string;
    /** Marks a line that takes the agent's pin back. */
    removed?: boolean;
}
/** Where pins are kept: lines that are only appended, and are there when append resolves. Several programs may share one. */
export interface TrustStore {
    read(): Promise<Pin[]>;
    append(line: Pin): Promise<void>;
}
/** Keeps pins as long as the process lives: for tests, and for agents that live no longer. */
export declare class MemoryTrustStore implements TrustStore {
    #private;
    read(): Promise<Pin[]>;
    append(line: Pin): Promise<void>;
}
/** An agent as every record shows it. A deleted one has no key. */
export interface Named {
    id: string;
    handle?: string | undefined;
    encryption_public_key: string | null;
}
/** The keys of other agents, from their first use on. Of two pins of one agent or one handle the first counts. */
export declare class Trust {
    readonly store: TrustStore;
    constructor(store: TrustStore);
    /** Pins an agent's key at its first use; throws a TrustError if the agent, or the handle, is known by another key. */
    check(agent: Named): Promise<void>;
    /** check without pinning: whether the agent is pinned with this key and handle. */
    compare(agent: Named): Promise<boolean>;
    /** The agents that are pinned, by id. */
    pins(): Promise<Map<string, Pin>>;
    /** Forgets the pin of an agent, by id or handle, so that its next use pins the key that the server names then. */
    unpin(idOrHandle: string): Promise<Pin>;
}
/** A handle as people write it: with an @ before it, and with capitals. */
export declare function handleOf(written: string): string;
/** The fingerprint of a public key in base64, which people compare; the key itself if the runtime has no SHA-256. */
export declare function fingerprint(key: string): Promise<string>;
