/** A refusal of the server, or a request without an answer. */
export declare class Fault extends Error {
    /** The server's code for programs, such as "version_conflict"; "unanswered" if no answer came. */
    readonly code: string;
    /** The HTTP status; 0 if no answer came. The fault of `find`, which reads two lists, has 404. */
    readonly status: number;
    /** The request's id in the server's log. */
    readonly requestId: string | undefined;
    /** The seconds to wait before the next attempt, if the server names them. */
    readonly retryAfter: number | undefined;
    /** The complaint about each wrong field. */
    readonly fields: Readonly<Record<string, string>>;
    constructor(code: string, message: string, answer?: Pick<Response, "status" | "headers">, fields?: Record<string, string>, cause?: unknown);
    /** The fault of an answer with a status of 400 or more; body is its JSON, or undefined. */
    static of(answer: Response, body: unknown): Fault;
}
/** The seconds of an answer's Retry-After. */
export declare function retryAfter(answer: Pick<Response, "headers"> | undefined): number | undefined;
