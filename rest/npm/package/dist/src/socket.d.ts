import type { Stoa } from "./client.js";
import { type Connection } from "./listen.js";
/** Events over a WebSocket, in Node. Throws if the socket cannot be opened. */
export declare function socket(stoa: Stoa, version: number, signal?: AbortSignal): Promise<Connection>;
