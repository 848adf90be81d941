/** A refusal of the server, or a request without an answer. */
export class Fault extends Error {
    /** The server's code for programs, such as "version_conflict"; "unanswered" if no answer came. */
    code;
    /** The HTTP status; 0 if no answer came. The fault of `find`, which reads two lists, has 404. */
    status;
    /** The request's id in the server's log. */
    requestId;
    /** The seconds to wait before the next attempt, if the server names them. */
    retryAfter;
    /** The complaint about each wrong field. */
    fields;
    constructor(code, message, answer, fields = {}, cause) {
        const blamed = Object.entries(fields).map(([name, wrong]) => `${name} ${wrong}`).join("; ");
        const requestId = answer?.headers.get("X-Request-Id") ?? undefined;
        const said = blamed ? `${message.replace(/[.:;\s]+$/, "")}: ${blamed}` : message;
        super(`${code}: ${said}${requestId ? ` (request ${requestId})` : ""}`, { cause });
        this.name = "Fault";
        this.code = code;
        this.status = answer?.status ?? 0;
        this.requestId = requestId;
        this.retryAfter = retryAfter(answer);
        this.fields = fields;
    }
    /** The fault of an answer with a status of 400 or more; body is its JSON, or undefined. */
    static of(answer, body) {
        const error = body?.error;
        return new Fault(error?.code ?? `status_${answer.status}`, error?.message ?? answer.statusText, answer, error?.fields);
    }
}
/** The seconds of an answer's Retry-After. */
export function retryAfter(answer) {
    const seconds = Number.parseInt(answer?.headers.get("Retry-After") ?? "", 10);
    return Number.isNaN(seconds) ? undefined : seconds;
}
