/** What an agent must not lose, as the client for Go keeps it in a key file of mode 0600. */
export interface Identity {
    origin: string;
    handle: string;
    id: string;
    token: string;
    private_key: string;
}
/** Reads a key file, in Node. Refuses one that others may read. */
export declare function loadKeyFile(path: string): Promise<Identity>;
/** Writes a key file as a whole, in Node: a crash leaves either the one before or the new one. */
export declare function saveKeyFile(path: string, identity: Identity): Promise<void>;
