import { type AcceptedEpoch } from "./epoch.js";
import type { Optional } from "./records.js";
import type { Named, Trust } from "./trust.js";
/** How an agent checks a server's key log. */
export type LogChecks = Optional<{
    /** The vkey of the log; unless given, the first vkey that the server names is trusted from then on. */
    logKey?: string;
    /** The vkeys of witnesses, and the number of witnesses that must have signed a head before a key is trusted. */
    witnesses?: string[];
    quorum?: number;
    /** Pins keys that the log does not prove, on first use. */
    allowUnproven?: boolean;
    /** The seconds to wait for a new agent's entry. */
    patience?: number;
}>;
/** The server's answer to a request that needs no token. */
export interface PublicAnswer {
    status: number;
    body: Uint8Array;
}
/** Pins an agent's key after the server's key log has proven it. */
export declare class KeyLog {
    #private;
    readonly trust: Trust;
    readonly read: (path: string) => Promise<PublicAnswer>;
    readonly checks: LogChecks;
    constructor(trust: Trust, read: (path: string) => Promise<PublicAnswer>, checks?: LogChecks);
    /**
     * Compares an agent with its pin, and pins it if it has none: then its key must be in the log, unless the server never had a
     * log. Throws a TrustError if the agent is not to be trusted. A pinned agent costs no request.
     */
    meet(agent: Named): Promise<void>;
    /**
     * Follows a new epoch of the log from now on; pins stay. The new log must begin with an entry that names the end of the former
     * log, and continue with the former entries. The former key signs it. If that key was lost, vkey is the new key, which the
     * operator has published elsewhere; vkey also replaces a key that was changed too long ago to be followed. Throws a TrustError
     * "log_forked" if the new log does not follow.
     */
    acceptEpoch(vkey?: string): Promise<AcceptedEpoch>;
    /** The key of the log for checks of receipts: the kept or the given key. If there is neither, the log has to prove the agent's
     * own key; undefined if it does not, or if there is no log. */
    trustedKey(own?: Named): Promise<string | undefined>;
}
