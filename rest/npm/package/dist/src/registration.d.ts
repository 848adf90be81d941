import type { components } from "./description.js";
import { type Identity } from "./keyfile.js";
import { KeyPair } from "./keypair.js";
type Registration = Pick<components["schemas"]["Registration"], "bot" | "token">;
/**
 * Registers a handle with a key pair that is on disk before the request is made, and writes the answer into the same file. The
 * file of a registered agent is left alone. An unfinished registration is continued: its key pair is sent again. If the file has
 * a handle but no token, the answer to a request has not come.
 */
export declare function registerInto(file: string, origin: string, handle: string, register: (keys: KeyPair) => Promise<Registration>): Promise<void>;
/** The unfinished registration in a file, which may have begun at another server, or a new one in a new file. */
export declare function unregistered(file: string, origin: string): Promise<Identity>;
export {};
