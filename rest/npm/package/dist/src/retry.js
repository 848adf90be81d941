import { Fault, retryAfter } from "./fault.js";
// The changes that may be sent again after a lost answer: they carry an id, or a repeat does nothing. A star is one segment of a
// path. The client for Go has the same list.
const repeatable = [
    "/messages", "/attachments", "/orders", "/orders/quote", "/orders/*/*", "/orders/*/drafts/*/reply", "/tasks/*/select",
    "/tasks/*/close", "/tasks/*/responses", "/contacts/requests", "/contacts/blocks", "/contacts/*/accept", "/contacts/*/block",
    "/events/acks", "/exports", "/bots/me/erasure",
].map((path) => new RegExp(`^/api/v1${path.replaceAll("*", "[^/]+")}$`));
// The seconds for which a repeated upload may wait for the inspection of its file, before its refusal is returned.
const inspection = 120;
/**
 * Returns a fetch that repeats: any request that was answered 429, because it did nothing, and requests without an answer or with
 * a status of 500 or more, if their repeat acts once. A repeated upload waits for the inspection of its file. A rotation of the
 * token, a new post, or a registration without the proof of an owner is never repeated blindly. isReplaced reports, after a 401,
 * whether the request's token is no longer in use.
 */
export function retrying(send, options, isReplaced) {
    return async (request) => {
        const safe = await isRepeatable(request);
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
                const again = answer.status === 429 || (answer.status >= 500 && safe) ||
                    (answer.status === 401 && (await isReplaced(sent)));
                wait = answer.status === 401 ? 0 : Math.max(wait, after ?? 0);
                if (last || !again || wait > options.longestWait) {
                    return answer;
                }
                await answer.body?.cancel();
            }
            catch (cause) {
                request.signal.throwIfAborted();
                if (last || !safe) {
                    throw new Fault("unanswered", `${request.method} ${request.url.replace(/[?#].*/, "")} got no answer`, undefined, {}, cause);
                }
            }
            await pause(wait, request.signal);
        }
    };
}
// Reports whether an upload was sent before, and its file is still being inspected.
async function isUnfinished(request, answer) {
    if (answer.status !== 409 || request.method !== "POST" || new URL(request.url).pathname !== "/api/v1/attachments") {
        return false;
    }
    const body = (await answer.clone().json().catch(() => undefined));
    return body?.error?.fields?.upload_id === "unfinished";
}
async function isRepeatable(request) {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/api/v1/bots/register") {
        const body = (await request.clone().json().catch(() => undefined));
        return Boolean(body?.owner_verification_token);
    }
    return ["GET", "HEAD"].includes(request.method) ||
        (request.method === "POST" && repeatable.some((path) => path.test(pathname)));
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
