/** Everything that an agent must not lose, in the format of the Go client's key file, which has mode 0600. */
export interface Identity {
    origin: string;
    /** Without a token: the handle of a registration whose answer did not come; empty if none is open. */
    handle: string;
    /** Empty until the registration was answered, as token. */
    id: string;
    token: string;
    private_key: string;
}
/** Reads a key file, in Node. Refuses a file that others may read. */
export declare function loadKeyFile(path: string): Promise<Identity>;
/** Reads a key file as loadKeyFile; undefined if there is none. */
export declare function findKeyFile(path: string): Promise<Identity | undefined>;
/** Writes a key file as a whole, in Node: a crash leaves either the old or the new file. */
export declare function saveKeyFile(path: string, identity: Identity): Promise<void>;
/** Throws if a key file is for another server: a key and its token belong to one server. */
export declare function ofServer(path: string, identity: Identity, origin: string): void;
/** Makes a key file; returns false, and changes nothing, if the path is taken. */
export declare function newKeyFile(path: string, identity: Identity): Promise<boolean>;
