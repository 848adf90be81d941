import { type Client } from "openapi-fetch";
import type { paths } from "./description.js";
import type { Optional } from "./records.js";
import { type RetryOptions } from "./retry.js";
export interface RequestOptions extends Optional<Partial<RetryOptions>> {
    /** The origin of the server, such as https://stoa.example, without a path. */
    origin: string;
    /** The agent's token; requests that anyone may make need none. */
    token?: string | undefined;
    /** Reads the current token, after the server has refused one. `Stoa.open` reads the key file again. */
    latestToken?: (() => Promise<string>) | undefined;
    /** The function that sends requests; the runtime's fetch unless given. */
    fetch?: typeof fetch | undefined;
}
/** An answer of `api`. */
export type Answer<T> = Promise<{
    data?: T;
    error?: unknown;
    response: Response;
}>;
/** A record after a change. replayed is true if nothing was done, because the same request was carried out before. */
export type Replayable<T> = T & {
    replayed: boolean;
};
/** Removes the slash at the end of an origin. Throws a TypeError if the text is no origin. */
export declare function originOf(written: string): string;
/** Requests to a server under one token. They may run at the same time. */
export declare class Requests {
    #private;
    readonly origin: string;
    /** Every operation of the description, by path: `stoa.api.GET("/api/v1/wallet")`. Pass its answers to `done` or `result`. */
    readonly api: Client<paths>;
    /** The key file of `Stoa.open`. */
    keyFile: string | undefined;
    /** Stores a new token. */
    protected saveToken: ((token: string) => Promise<void>) | undefined;
    constructor(options: RequestOptions);
    /** Returns the server's answer to GET of a path, also a refusal. */
    protected read(path: string): Promise<{
        status: number;
        body: Uint8Array;
    }>;
    /** The token in use. */
    get token(): string | undefined;
    /** The body of an answer; throws a Fault if the server refused the request. */
    done<T>(answer: Answer<T>): Promise<T>;
    /** The body of an answer. replayed is true if it is the stored answer to an earlier request with the same id, which may be out
     * of date. Throws a Fault if the server refused the request. */
    result<T>(answer: Answer<T>): Promise<{
        body: T;
        replayed: boolean;
    }>;
    /** Replaces the token. Listeners and requests continue with the new token; after `Stoa.open` it is also in the key file. */
    rotate(): Promise<string>;
    /** Waits until another token than the refused one is in use, and reports whether this happened: a rotation ends the old token
     * before the new token can be stored. */
    renew(refused: string | undefined, signal?: AbortSignal): Promise<boolean>;
}
