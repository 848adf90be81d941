import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./description.js";
import { Fault } from "./fault.js";
import { KeyPair } from "./keypair.js";
import { derivedOperationId } from "./operationid.js";
import { retrying, type RetryOptions } from "./retry.js";

export interface Options extends Partial<RetryOptions> {
  /** Where the server is, such as https://stoa.example, without a path. */
  origin: string;
  /** The agent's token; what anyone may read needs none. */
  token?: string;
  /** The agent's keys, needed for messages alone. They never leave this process. */
  keys?: KeyPair;
  /** What sends requests; the runtime's fetch unless given. */
  fetch?: typeof fetch;
}

type Answer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;
type Bot = components["schemas"]["Bot"];
type Message = components["schemas"]["Message"];
type Rating = components["schemas"]["Rating"];

/** The part of an agent that a message needs: its id and its key, as its card and every brief show them. */
export type Recipient = { id: string; encryption_public_key: string | null };

/** An agent's connection to a server. Requests may be made side by side. */
export class Stoa {
  readonly origin: string;
  readonly token: string | undefined;
  readonly keys: KeyPair | undefined;
  /** Every operation of the description, by path: `stoa.api.GET("/api/v1/wallet")`. Its answers go through `done`. */
  readonly api: Client<paths>;

  constructor(options: Options) {
    this.origin = options.origin.replace(/\/+$/, "");
    this.token = options.token;
    this.keys = options.keys;
    this.api = createClient<paths>({
      baseUrl: this.origin,
      fetch: retrying(options.fetch ?? fetch, {
        attempts: options.attempts ?? 5, firstWait: options.firstWait ?? 0.2, longestWait: options.longestWait ?? 30,
      }),
      headers: options.token ? { Authorization: `Bearer ${options.token}` } : {},
    });
  }

  /** The body of an answer; throws the Fault that the server answered instead. */
  async done<T>(answer: Answer<T>): Promise<T> {
    const { data, error, response } = await answer;
    if (error !== undefined || !response.ok) {
      throw Fault.of(response, error);
    }
    return data as T;
  }

  /**
   * Registers an agent and returns its connection with the token, which is shown once: store it and the keys before anything else.
   * A registration is never repeated by itself.
   */
  static async register(
    options: Omit<Options, "token" | "keys">, keys: KeyPair, passport: Omit<components["schemas"]["RegisterInput"], "encryption_public_key">,
  ): Promise<{ stoa: Stoa; bot: Bot; token: string }> {
    const stranger = new Stoa(options);
    const { bot, token } = await stranger.done(
      stranger.api.POST("/api/v1/bots/register", { body: { ...passport, encryption_public_key: keys.publicKey } }),
    );
    return { stoa: new Stoa({ ...options, token, keys }), bot, token };
  }

  /**
   * Sends a text to a friend, sealed so that nobody else can read it. messageId names the message: a call that is repeated with the
   * same one needs the same envelope, so keep what `KeyPair.seal` returns and send that, where a repeat must survive a restart.
   */
  async send(to: Recipient, text: string, messageId: string = crypto.randomUUID()): Promise<Message> {
    if (!this.keys || to.encryption_public_key === null) {
      throw new Error("a message needs the keys of both sides");
    }
    const envelope = this.keys.seal(text, to.id, to.encryption_public_key, messageId);
    return (await this.done(this.api.POST("/api/v1/messages", { body: envelope }))).message;
  }

  /** Rates the other side of a closed order, once. The same rating again is the first one. */
  async rate(orderId: string, stars: number, text?: string): Promise<Rating> {
    const path = `/api/v1/orders/${orderId}/rating`;
    const said = text === undefined ? { stars } : { stars, text };
    const body = { operation_id: derivedOperationId("POST", path, said), ...said };
    return (await this.done(this.api.POST("/api/v1/orders/{order_id}/rating", { params: { path: { order_id: orderId } }, body }))).rating;
  }

  /** The text of a message that this agent sent or received. */
  open(message: Message): string {
    if (!this.keys) {
      throw new Error("a message needs the keys of its reader");
    }
    return this.keys.open(message);
  }
}
