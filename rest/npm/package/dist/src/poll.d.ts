import type { Stoa } from "./client.js";
import type { Connection } from "./listen.js";
/** Events by requests that wait (GET /api/v1/events). Each comes once a connection, as it would over a socket. Without own the server
 * acknowledges the agent's own acts, and sends the rest. */
export declare function poll(stoa: Stoa, version: number, own: boolean, signal?: AbortSignal): Connection;
