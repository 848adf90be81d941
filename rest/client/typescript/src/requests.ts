import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./description.js";
import { Fault } from "./fault.js";
import type { Optional } from "./records.js";
import { pause, retrying, type RetryOptions } from "./retry.js";

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
export type Answer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** A record after a change. replayed is true if nothing was done, because the same request was carried out before. */
export type Replayable<T> = T & { replayed: boolean };

const rotation = "/api/v1/tokens/rotate";

// The time for which a listener waits for a rotated token, and the pause between its checks, in seconds.
const renewal = 15;
const renewalPause = 0.1;

/** Removes the slash at the end of an origin. Throws a TypeError if the text is no origin. */
export function originOf(written: string): string {
  const origin = String(written).replace(/\/+$/, "");
  if (!/^https?:\/\/[^/\\?#@\s]+$/i.test(origin) || !URL.canParse(origin)) {
    throw new TypeError(`the origin of a server is like https://stoa.example, without a path; this one is ${written}`);
  }
  return origin;
}

/** Requests to a server under one token. They may run at the same time. */
export class Requests {
  readonly origin: string;
  /** Every operation of the description, by path: `stoa.api.GET("/api/v1/wallet")`. Pass its answers to `done` or `result`. */
  readonly api: Client<paths>;
  readonly #latestToken: (() => Promise<string>) | undefined;
  readonly #send: (request: Request) => Promise<Response>;
  #token: string | undefined;
  #rotating: Promise<unknown> | undefined;
  /** The key file of `Stoa.open`. */
  keyFile: string | undefined;
  /** Stores a new token. */
  protected saveToken: ((token: string) => Promise<void>) | undefined;

  constructor(options: RequestOptions) {
    this.origin = originOf(options.origin);
    this.#token = options.token;
    this.#latestToken = options.latestToken;
    const send = options.fetch ?? fetch;
    const authorized = (request: Request) => {
      if (this.#token) {
        request.headers.set("Authorization", `Bearer ${this.#token}`);
      }
      return send(request);
    };
    this.#send = retrying(authorized, {
      attempts: options.attempts ?? 5, firstWait: options.firstWait ?? 0.2, longestWait: options.longestWait ?? 30,
    }, async (request) => !request.url.endsWith(rotation) && this.#isReplaced(request.headers.get("Authorization")?.slice("Bearer ".length)));
    this.api = createClient<paths>({ baseUrl: this.origin, fetch: this.#send });
  }

  /** Returns the server's answer to GET of a path, also a refusal. */
  protected async read(path: string): Promise<{ status: number; body: Uint8Array }> {
    const answer = await this.#send(new Request(this.origin + path));
    return { status: answer.status, body: new Uint8Array(await answer.arrayBuffer()) };
  }

  /** The token in use. */
  get token(): string | undefined {
    return this.#token;
  }

  /** The body of an answer; throws a Fault if the server refused the request. */
  async done<T>(answer: Answer<T>): Promise<T> {
    return (await this.result(answer)).body;
  }

  /** The body of an answer. replayed is true if it is the stored answer to an earlier request with the same id, which may be out
   * of date. Throws a Fault if the server refused the request. */
  async result<T>(answer: Answer<T>): Promise<{ body: T; replayed: boolean }> {
    const { data, error, response } = await answer;
    if (error !== undefined || !response.ok) {
      throw Fault.of(response, error);
    }
    return { body: data as T, replayed: response.headers.get("Idempotent-Replayed") === "true" };
  }

  /** Replaces the token. Listeners and requests continue with the new token; after `Stoa.open` it is also in the key file. */
  async rotate(): Promise<string> {
    const rotating = this.#rotate();
    this.#rotating = rotating.catch(() => undefined);
    return rotating;
  }

  async #rotate(): Promise<string> {
    const { token } = await this.done(this.api.POST(rotation));
    this.#token = token;
    await this.saveToken?.(token);
    return token;
  }

  /** Waits until another token than the refused one is in use, and reports whether this happened: a rotation ends the old token
   * before the new token can be stored. */
  async renew(refused: string | undefined, signal?: AbortSignal): Promise<boolean> {
    for (let waited = 0; !(await this.#isReplaced(refused)) && this.#latestToken && waited < renewal; waited += renewalPause) {
      await pause(renewalPause, signal);
    }
    return this.#token !== refused;
  }

  // Reports whether the token in use, here or by latestToken, differs from the refused one. A running rotation ends first.
  async #isReplaced(refused: string | undefined): Promise<boolean> {
    await this.#rotating;
    if (this.#token === refused && this.#latestToken) {
      const latest = await this.#latestToken().catch(() => undefined); // it may be readable the next time
      if (latest && this.#token === refused) {
        this.#token = latest;
      }
    }
    return refused !== undefined && this.#token !== refused;
  }
}
