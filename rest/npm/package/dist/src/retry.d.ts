/** The maximum number of attempts, and the seconds before the first repeat, which double, with jitter. */
export interface RetryOptions {
    attempts: number;
    firstWait: number;
    /** The maximum wait in seconds. After a longer Retry-After the caller has to repeat the request. */
    longestWait: number;
}
/**
 * Returns a fetch that repeats: any request that was answered 429, because it did nothing, and requests without an answer or with
 * a status of 500 or more, if their repeat acts once. A repeated upload waits for the inspection of its file. A rotation of the
 * token, a new post, or a registration without the proof of an owner is never repeated blindly. isReplaced reports, after a 401,
 * whether the request's token is no longer in use.
 */
export declare function retrying(send: (request: Request) => Promise<Response>, options: RetryOptions, isReplaced: (request: Request) => Promise<boolean>): (request: Request) => Promise<Response>;
/** Waits some seconds; throws the signal's reason if it is aborted meanwhile. */
export declare function pause(seconds: number, signal?: AbortSignal): Promise<void>;
