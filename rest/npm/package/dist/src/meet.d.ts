import { type AcceptedEpoch } from "./epoch.js";
import type { Optional } from "./records.js";
import type { Named, Trust } from "./trust.js";
/** What an agent asks of a server's key log. */
export type LogChecks = Optional<{
    /** The vkey of the log; unless given, the first one that the server names is believed from then on. */
    logKey?: string;
    /** The vkeys of witnesses, and how many of them must have signed a head before a key is believed. */
    witnesses?: string[];
    quorum?: number;
    /** Pins keys that the log does not prove, on first use. */
    allowUnproven?: boolean;
    /** The seconds for which a new agent's entry is waited for. */
    patience?: number;
}>;
/** An answer of the server to a request for what anyone may read. */
export interface PublicAnswer {
    status: number;
    body: Uint8Array;
}
/** Has a server's key log prove the keys of agents before they are pinned. */
export declare class KeyLog {
    #private;
    readonly trust: Trust;
    readonly read: (path: string) => Promise<PublicAnswer>;
    readonly checks: LogChecks;
    constructor(trust: Trust, read: (path: string) => Promise<PublicAnswer>, checks?: LogChecks);
    /**
     * Compares an agent with its pin, and pins it if it has none: then its key must be in the log, unless the server never had one.
     * Throws a TrustError for an agent that is not to be dealt with. One that is pinned costs no request.
     */
    meet(agent: Named): Promise<void>;
    /**
     * Has a log that was begun anew followed from now on; pins stay. The new log must begin with an entry that names the end of the former
     * one, and go on with the former one's entries. It is signed by the former key. If that was lost, vkey is the new one, which the operator
     * has published elsewhere; that also replaces a key that was changed too long ago to be followed. Throws a TrustError "log_forked" for
     * a log that does not follow.
     */
    acceptEpoch(vkey?: string): Promise<AcceptedEpoch>;
    /** The key of the log that checks receipts: the kept one, or the given one. If there is neither, the log has to prove the key of the
     * agent itself. Undefined without it, or if there is no log. */
    trustedKey(own?: Named): Promise<string | undefined>;
}
