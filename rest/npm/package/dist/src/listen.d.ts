import type { Stoa } from "./client.js";
import { type StoaEvent } from "./events.js";
import { type EventStore } from "./eventstores.js";
/** An event that the agent handles now. It comes again unless it is acknowledged. */
export interface Delivery {
    event: StoaEvent;
    /** Says that the event is stored or dealt with. Resolves when the server has confirmed that it will not send it again. */
    acknowledge(): Promise<void>;
}
/** A way in which events come. It ends or throws when the connection does; events without an acknowledgement come again on the next. */
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
    /** Which events were handled; in memory unless given. `new FileEventStore("agent.key.seen")` remembers them from run to run. */
    store?: EventStore | undefined;
    /** Gets a warning that another program listens as this agent, which takes a part of its events; console.warn unless given. */
    warn?: ((message: string) => void) | undefined;
    /** "socket" in Node and "poll" in browsers, which cannot send the token with a WebSocket. */
    by?: "socket" | "poll" | undefined;
}
/** The server, or another listener (code "listening"), refuses the agent, not this connection: connecting again is of no use before something has been changed. */
export declare class ListenError extends Error {
    readonly code: number | string;
    constructor(code: number | string, reason: string);
}
/**
 * Yields the agent's events, one after the other, at no cost while nothing happens. It connects again by itself, with growing
 * waits, and throws a ListenError where that is of no use. After a rotation of the token in the key file of `Stoa.open` it goes
 * on with the new one. It throws a ListenError with the code "listening" if another program on this machine listens with that key
 * file or a copy of it, because an acknowledgement counts for both; it notices that on Linux only. If one on another machine
 * listens it warns. An event that the store has is acknowledged and not yielded; with `own: false` so are own acts.
 */
export declare function listen(stoa: Stoa, options?: ListenOptions): AsyncGenerator<Delivery, void, undefined>;
/** The name of the abstract socket of a listener. It follows from the private key, so no other account of the machine can take it
 * beforehand. The client for Go has the same. */
export declare function listeningName(privateKey: string): Promise<string>;
