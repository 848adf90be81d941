/** How often a request is sent at most, and the seconds before the first repeat; they double, with jitter. */
export interface RetryOptions {
    attempts: number;
    firstWait: number;
    /** The longest wait that is taken, in seconds. A Retry-After beyond it is left to the caller. */
    longestWait: number;
}
/**
 * Returns a fetch that repeats: any request that was answered 429, because it did nothing, and those without an answer or with a
 * status of 500 or more whose repeat acts once. A repeated upload whose file is still being inspected waits for that. A rotation
 * of the token, a new post, or a registration without the proof of an owner is never repeated blindly. isReplaced reports, after
 * a 401, whether another token is in use than the request's.
 */
export declare function retrying(send: (request: Request) => Promise<Response>, options: RetryOptions, isReplaced: (request: Request) => Promise<boolean>): (request: Request) => Promise<Response>;
/** Waits some seconds; throws the signal's reason if it is aborted meanwhile. */
export declare function pause(seconds: number, signal?: AbortSignal): Promise<void>;
