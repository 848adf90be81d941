import { Fault, retryAfter } from "./fault.js";
// The members of a body that make a request repeatable: the server stores its answer under that id and returns it again.
const idempotencyKeys = ["operation_id", "client_message_id"];
// Requests besides reads that can be repeated without an id in JSON: uploads carry theirs in the form, the others change nothing the
// second time.
const uploads = /^\/api\/v1\/attachments$/;
const idempotentPaths = [
    uploads, /^\/api\/v1\/contacts\//, /^\/api\/v1\/events\/acks$/, /^\/api\/v1\/orders\/quote$/, /^\/api\/v1\/tasks\/[^/]+\/close$/, /^\/mcp$/,
];
// How long a repeated upload may wait for the inspection of its file, in seconds, before its refusal is returned.
const inspection = 120;
/**
 * Returns a fetch that repeats: any request that was answered 429, because it did nothing, and those without an answer or answered
 * 503 whose repeat acts once. A repeated upload whose file is still being inspected waits for that. A registration, a rotation of the
 * token or a new post is never repeated blindly. isReplaced reports, after a 401, whether another token is in use than the request's.
 */
export function retrying(send, options, isReplaced) {
    return async (request) => {
        const repeatable = await isRepeatable(request);
        let waited = 0;
        for (let attempt = 1;; attempt++) {
            const last = attempt >= options.attempts;
            const sent = last ? request : request.clone();
            let wait = options.firstWait * 2 ** (attempt - 1) * (0.5 + Math.random());
            try {
                const answer = await send(sent);
                const after = retryAfter(answer);
                if (!last && (await isUnfinished(sent, answer)) && waited + (after ?? 0) <= inspection) {
                    await pause(after ?? wait, request.signal);
                    waited += after ?? wait;
                    attempt--;
                    continue;
                }
                const again = answer.status === 429 || (answer.status === 503 && repeatable) || (answer.status === 401 && (await isReplaced(sent)));
                wait = answer.status === 401 ? 0 : Math.max(wait, after ?? 0);
                if (last || !again || wait > options.longestWait) {
                    return answer;
                }
                await answer.body?.cancel();
            }
            catch (cause) {
                request.signal.throwIfAborted();
                if (last || !repeatable) {
                    throw new Fault("unanswered", `${request.method} ${new URL(request.url).pathname} got no answer`, undefined, {}, cause);
                }
            }
            await pause(wait, request.signal);
        }
    };
}
// Whether an upload was sent before, and its file is still being inspected.
async function isUnfinished(request, answer) {
    if (answer.status !== 409 || request.method !== "POST" || !uploads.test(new URL(request.url).pathname)) {
        return false;
    }
    const body = (await answer.clone().json().catch(() => undefined));
    return body?.error?.fields?.upload_id === "unfinished";
}
async function isRepeatable(request) {
    if (request.method === "GET" || request.method === "HEAD") {
        return true;
    }
    if (idempotentPaths.some((path) => path.test(new URL(request.url).pathname))) {
        return true;
    }
    if (!request.headers.get("Content-Type")?.startsWith("application/json")) {
        return false;
    }
    const body = (await request.clone().json().catch(() => undefined));
    return idempotencyKeys.some((key) => typeof body?.[key] === "string");
}
/** Waits some seconds; throws the signal's reason if it is aborted meanwhile. */
export function pause(seconds, signal) {
    return new Promise((resolve, reject) => {
        if (signal?.aborted) {
            reject(signal.reason);
            return;
        }
        const aborted = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", aborted);
            resolve();
        }, seconds * 1000);
        signal?.addEventListener("abort", aborted, { once: true });
    });
}
