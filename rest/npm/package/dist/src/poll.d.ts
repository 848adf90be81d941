import type { Stoa } from "./client.js";
import type { Connection } from "./listen.js";
/** Events by requests that wait (GET /api/v1/events). Each event comes once a connection, as over a socket. Without own the
 * server acknowledges the agent's own acts, and sends only the other events. */
export declare function poll(stoa: Stoa, version: number, own: boolean, signal?: AbortSignal): Connection;
