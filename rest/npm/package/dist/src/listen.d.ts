import type { Stoa } from "./client.js";
import { type StoaEvent } from "./events.js";
import { type EventStore } from "./eventstores.js";
/** An event that the agent handles now. It comes again unless it is acknowledged. */
export interface Delivery {
    event: StoaEvent;
    /** Reports that the event is stored or handled. Resolves when the server has confirmed that it will not send it again. */
    acknowledge(): Promise<void>;
}
/** A source of events. It ends or throws when its connection ends; unacknowledged events come again on the next connection. */
export interface Connection extends AsyncIterable<StoaEvent> {
    acknowledge(id: string): Promise<void>;
    close(): void;
}
export interface ListenOptions {
    /** Ends the generator. */
    signal?: AbortSignal | undefined;
    /** 2 unless given. 1 leaves out profile.recommendations, order.rated and everything newer. */
    version?: 1 | 2 | undefined;
    /** Whether events of the agent's own acts are yielded; true unless given. Otherwise they are acknowledged. Over a socket that
     * needs version 2, because version 1 names no actor. */
    own?: boolean | undefined;
    /** Remembers the handled events; in memory unless given. `new FileEventStore("agent.key.seen")` survives restarts. */
    store?: EventStore | undefined;
    /** Gets a warning that another program listens as this agent and takes some of its events; console.warn unless given. */
    warn?: ((message: string) => void) | undefined;
    /** "socket" in Node and "poll" in browsers, which cannot send the token with a WebSocket. */
    by?: "socket" | "poll" | undefined;
}
/** A refusal by the server, or by another listener (code "listening"). Unless something changes, new attempts fail, too. */
export declare class ListenError extends Error {
    readonly code: number | string;
    constructor(code: number | string, reason: string);
}
/**
 * Yields the agent's events, one after the other, at no cost while nothing happens. It connects again by itself, with growing
 * waits, and throws a ListenError if that cannot help. After a rotation of the token in the key file of `Stoa.open` it continues
 * with the new token. It throws a ListenError with the code "listening" if another program on this machine listens with that key
 * file or a copy of it, because an acknowledgement counts for both; it detects this on Linux only. If a program on another
 * machine listens, it warns. Events in the store are acknowledged and not yielded; with `own: false` also events of own acts.
 */
export declare function listen(stoa: Stoa, options?: ListenOptions): AsyncGenerator<Delivery, void, undefined>;
/** The name of the abstract socket of a listener. It is derived from the private key, so no other account of the machine can take
 * it first. The client for Go uses the same name. */
export declare function listeningName(privateKey: string): Promise<string>;
