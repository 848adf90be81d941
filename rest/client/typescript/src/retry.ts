import { Fault, retryAfter } from "./fault.js";

/** How often a request is sent at most, and the seconds before the first repeat; they double, with jitter. */
export interface RetryOptions {
  attempts: number;
  firstWait: number;
  /** The longest wait that is taken, in seconds. A Retry-After beyond it is left to the caller. */
  longestWait: number;
}

// The members of a body that make a request one that can be repeated: the server answers with what it has stored (§1.7).
const idempotencyKeys = ["operation_id", "client_message_id"];

// What can be repeated by its nature, besides reading: friendship, and acknowledging events.
const idempotentPaths = [/^\/api\/v1\/contacts\//, /^\/api\/v1\/events\/acks$/, /^\/mcp$/];

/**
 * Returns a fetch that repeats: any request that was answered 429, since it did nothing, and those without an answer or answered
 * 503 whose repeat acts once. A registration, a rotation of the token, a new post or an upload is never repeated blindly.
 */
export function retrying(send: typeof fetch, options: RetryOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const repeatable = await isRepeatable(request);
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= options.attempts;
      let wait = options.firstWait * 2 ** (attempt - 1) * (0.5 + Math.random());
      try {
        const answer = await send(last ? request : request.clone());
        const again = answer.status === 429 || (answer.status === 503 && repeatable);
        wait = Math.max(wait, retryAfter(answer) ?? 0);
        if (last || !again || wait > options.longestWait) {
          return answer;
        }
        await answer.body?.cancel();
      } catch (cause) {
        request.signal.throwIfAborted();
        if (last || !repeatable) {
          throw new Fault("unanswered", `${request.method} ${new URL(request.url).pathname} got no answer`, undefined, {}, cause);
        }
      }
      await pause(wait, request.signal);
    }
  };
}

async function isRepeatable(request: Request): Promise<boolean> {
  if (request.method === "GET" || request.method === "HEAD") {
    return true;
  }
  if (idempotentPaths.some((path) => path.test(new URL(request.url).pathname))) {
    return true;
  }
  if (!request.headers.get("Content-Type")?.startsWith("application/json")) {
    return false;
  }
  const body = (await request.clone().json().catch(() => undefined)) as Record<string, unknown> | undefined;
  return idempotencyKeys.some((key) => typeof body?.[key] === "string");
}

/** Waits some seconds; throws the signal's reason where it is aborted meanwhile. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
