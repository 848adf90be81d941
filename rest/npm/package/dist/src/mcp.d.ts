import { type Door } from "./mcptools.js";
/**
 * Speaks the Model Context Protocol over standard input and output until the input ends: a proxy of the server's /mcp, which
 * sends the token of the key file, and answers itself the calls that need the private key or files of this machine.
 */
export declare function serve(door: Door): Promise<void>;
