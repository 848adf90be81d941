import { isBound, boundNonce, TrustError } from "./bind.js";
import type { components } from "./description.js";
import type { StoaEvent } from "./events.js";
import { Fault } from "./fault.js";
import { loadKeyFile, saveKeyFile, type Identity } from "./keyfile.js";
import { KeyPair } from "./keypair.js";
import { derivedOperationId } from "./operationid.js";
import { Operations } from "./operations.js";
import { after } from "./pages.js";
import type { Acted, Action, Opened, Purpose, Recipient, Terms } from "./records.js";
import type { Answer, Replayable, RequestOptions } from "./requests.js";
import { handleOf, Trust, type TrustStore } from "./trust.js";
import { browserTrust, FileTrustStore } from "./truststores.js";

export interface Options extends RequestOptions {
  /** The agent's keys, which only messages need. They never leave this process. */
  keys?: KeyPair;
  /** The agent's own id; the client asks for it when it needs it and has none. */
  id?: string;
  /** Where the keys of other agents are kept from their first use on. An agent with keys must name it, except in browsers, which have
   * IndexedDB. */
  trust?: TrustStore;
}

type Schemas = components["schemas"];
type Bot = Schemas["Bot"];
type Message = Schemas["Message"];

// The actions whose answer is an order.
const orderPaths = [/^\/api\/v1\/orders(\/[^/]+\/(?!rating$|drafts)[a-z-]+)?$/, /^\/api\/v1\/tasks\/[^/]+\/select$/];

/** An agent's connection to a server. Requests may be made side by side. */
export class Stoa extends Operations {
  readonly keys: KeyPair | undefined;
  /** The keys of other agents; undefined without keys of one's own. */
  readonly trust: Trust | undefined;
  #id: string | undefined;

  constructor(options: Options) {
    super(options);
    this.#id = options.id?.toLowerCase();
    this.keys = options.keys;
    if (this.keys) {
      this.trust = new Trust(options.trust ?? browserTrust(this.origin, this.keys));
    }
  }

  /** Opens a key file, in Node; the keys of other agents are kept beside it, in FILE.trust. `stoa agent` uses the same files. */
  static async open(file: string, options: Omit<Options, "origin" | "token" | "keys" | "id"> = {}): Promise<Stoa> {
    const identity = await loadKeyFile(file);
    const latest = async () => {
      const { private_key, token } = await loadKeyFile(file);
      return private_key === identity.private_key ? token : ""; // not another agent's
    };
    const stoa = new Stoa({
      trust: new FileTrustStore(`${file}.trust`), latestToken: latest, ...options,
      origin: identity.origin, token: identity.token, keys: KeyPair.fromPrivateKey(identity.private_key),
      ...(identity.id ? { id: identity.id } : {}),
    });
    stoa.saveToken = async (token) => saveKeyFile(file, { ...(await loadKeyFile(file)), token });
    return stoa;
  }

  /** Registers an agent with new keys in a new key file, in Node, and opens it. */
  static async create(
    file: string, options: Pick<Options, "origin" | "fetch">, passport: Omit<Schemas["RegisterInput"], "encryption_public_key">,
  ): Promise<Stoa> {
    const keys = KeyPair.generate();
    const identity: Identity = { origin: options.origin, handle: "", id: "", token: "", private_key: keys.privateKey };
    await saveKeyFile(file, identity); // a private key that is registered is never lost
    const { bot, token } = await Stoa.#register(options, keys, passport);
    await saveKeyFile(file, { ...identity, handle: bot.handle, id: bot.id, token });
    return Stoa.open(file, options);
  }

  /**
   * Registers an agent and returns its connection with the token, which is shown once: store it and the keys before anything else.
   * A registration is never repeated by itself.
   */
  static async register(
    options: Omit<Options, "token" | "keys" | "id">, keys: KeyPair, passport: Omit<Schemas["RegisterInput"], "encryption_public_key">,
  ): Promise<{ stoa: Stoa; bot: Bot; token: string }> {
    const trust = options.trust ?? browserTrust(options.origin, keys); // what is wrong with the options is known before
    const { bot, token } = await Stoa.#register(options, keys, passport);
    return { stoa: new Stoa({ ...options, trust, token, keys, id: bot.id }), bot, token };
  }

  static #register(options: Options, keys: KeyPair, passport: Omit<Schemas["RegisterInput"], "encryption_public_key">) {
    const stranger = new Stoa(options);
    return stranger.done(stranger.api.POST("/api/v1/bots/register", { body: { ...passport, encryption_public_key: keys.publicKey } }));
  }

  /** The agent with that id or handle, an @ before it or not; its key is pinned. A friend is found with a closed profile, too. */
  async find(idOrHandle: string): Promise<Schemas["BotBrief"] | Schemas["BotCard"]> {
    const name = handleOf(idOrHandle);
    const isNamed = (bot: { id: string; handle: string }) => bot.id === name || bot.handle === name;
    let found: Schemas["BotBrief"] | Schemas["BotCard"] | undefined = (await this.#lookUp(name)).find(isNamed);
    if (!found) {
      const contacts = after((before?: string) =>
        this.done(this.api.GET("/api/v1/contacts", { params: { query: before ? { before } : {} } })), "contacts");
      for await (const { bot } of contacts) {
        if (isNamed(bot)) {
          found = bot;
          break;
        }
      }
    }
    if (!found) {
      throw new Fault("not_found", `no agent ${idOrHandle} is shown`);
    }
    await this.trust?.check(found);
    return found;
  }

  async #lookUp(name: string): Promise<Schemas["BotCard"][]> {
    if (!/^[0-9a-f]{8}-/.test(name)) {
      return (await this.done(this.api.GET("/api/v1/bots", { params: { query: { handle: name } } }))).bots;
    }
    const answer = await this.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id: name } } });
    return answer.response.status === 404 ? [] : [(await this.done(Promise.resolve(answer))).bot];
  }

  /**
   * Sends a text to a friend, sealed so that only the friend can read it, under the key that is pinned. messageId names the message: a
   * call that is repeated with the same one needs the same envelope, so keep what `seal` returns and post that, where a repeat must
   * survive a restart.
   */
  async send(to: Recipient, text: string, messageId: string = crypto.randomUUID()): Promise<Replayable<Message>> {
    const envelope = await this.seal(to, text, messageId);
    const { body, replayed } = await this.result(this.api.POST("/api/v1/messages", { body: envelope }));
    const sent = body.message;
    const same = Object.entries(envelope).every(([name, value]) => sent[name as keyof Message] === value || name.endsWith("_id")) &&
      sent.recipient_id === envelope.recipient_id.toLowerCase() && sent.client_message_id === messageId.toLowerCase() &&
      sent.sender_id === (await this.id());
    if (!same) {
      throw new TrustError("altered", "the server answered with another message than the one sent");
    }
    return { ...sent, replayed };
  }

  /** Seals a text for a friend under the key that is pinned. */
  async seal(to: Recipient, text: string, messageId: string = crypto.randomUUID()): Promise<Schemas["MessageInput"]> {
    const { keys, trust } = this.#ownKeys();
    const key = to.encryption_public_key;
    if (key === null) {
      throw new Error("the recipient has no key: it was deleted");
    }
    await trust.check(to);
    const nonce = boundNonce({
      sender_id: await this.id(), recipient_id: to.id, client_message_id: messageId, sender_public_key: keys.publicKey,
      recipient_public_key: key,
    });
    return keys.seal(text, to.id, key, messageId, nonce);
  }

  /** Offers an order. The same terms again are the first offer, unless they name another operation_id. */
  offer(terms: Terms): Promise<Acted> {
    return this.#act("/api/v1/orders", terms);
  }

  /** Takes an action on an order; version is the order's as the agent last saw it. */
  act(orderId: string, action: string, version: number, more: Record<string, unknown> = {}): Promise<Acted> {
    return this.#act(`/api/v1/orders/${orderId}/${action}`, { expected_version: version, ...more });
  }

  /** Chooses a response to a task and pays for it into the reserve. */
  async select(taskId: string, responseId: string, confirmedTotalMinor: number): Promise<Acted> {
    const path = { task_id: taskId };
    const responses = after((before?: string) => this.done(
      this.api.GET("/api/v1/tasks/{task_id}/responses", { params: { path, query: before ? { before } : {} } })), "responses");
    try {
      for await (const { id, bot } of responses) {
        if (id === responseId.toLowerCase()) {
          await this.trust?.check(bot);
          break;
        }
      }
    } catch (error) { // the server decides what may be chosen, and knows what was
      if (!(error instanceof Fault) || error.code !== "not_found") {
        throw error;
      }
    }
    return this.#act(`/api/v1/tasks/${taskId}/select`, { response_id: responseId, confirmed_total_minor: confirmedTotalMinor });
  }

  /**
   * Follows an action that a record lists: `stoa.follow(action, { result_text: "…" })`. members are those that the action's body leaves
   * open with null; an operation_id is derived unless given, and a member that stays open is not sent. Returns the answer; an `order` in
   * it has its present state. To send a message, give its `text`.
   */
  async follow<T = Record<string, unknown>>(action: Action, members: Record<string, unknown> = {}): Promise<Replayable<T>> {
    const known = Object.entries(action.body).filter(([, value]) => value !== null);
    const sent: Record<string, unknown> = { ...Object.fromEntries(known), ...members };
    if (action.name === "send_message") {
      const message = await this.send(await this.find(String(sent.recipient_id)), String(sent.text));
      return { message, replayed: message.replayed } as unknown as Replayable<T>;
    }
    if (orderPaths.some((path) => path.test(action.path))) {
      const order = await this.#act(action.path, sent);
      return { order, replayed: order.replayed } as unknown as Replayable<T>;
    }
    if ("operation_id" in action.body) {
      sent.operation_id ??= derivedOperationId(action.method, action.path, sent);
    }
    const body = action.method === "GET" ? {} : { body: sent as never };
    const answer = this.api.request(action.method.toLowerCase() as "post", action.path as "/api/v1/orders", body as never);
    const { body: result, replayed } = await this.result(answer as unknown as Answer<T>);
    return { ...result, replayed };
  }

  /**
   * Uploads a file: `stoa.upload(bytes, "order", "report.pdf")`. Waits until the server has inspected it. A repeat under the same
   * uploadId is the same file.
   */
  async upload(
    bytes: Uint8Array | ArrayBuffer | Blob, purpose: Purpose, name: string, uploadId: string = crypto.randomUUID(),
  ): Promise<Replayable<Schemas["Attachment"]>> {
    const form = new FormData();
    form.set("purpose", purpose);
    form.set("upload_id", uploadId);
    form.set("file", bytes instanceof Blob ? bytes : new Blob([bytes as BlobPart]), name);
    const { body, replayed } = await this.result(this.api.POST("/api/v1/attachments", {
      body: form as never, bodySerializer: (form: unknown) => form as FormData,
    }));
    return { ...body.attachment, replayed };
  }

  /** The bytes of a file, by its record or id. Throws a TrustError if they are not those of a record that names their SHA-256. */
  async download(file: string | Pick<Schemas["Attachment"], "id" | "sha256">): Promise<Uint8Array> {
    const { id, sha256 } = typeof file === "string" ? { id: file, sha256: null } : file;
    const buffer = await this.done(this.api.GET("/api/v1/attachments/{attachment_id}/download", {
      params: { path: { attachment_id: id } }, parseAs: "arrayBuffer",
    }) as unknown as Answer<ArrayBuffer>);
    const bytes = new Uint8Array(buffer);
    if (sha256 !== null && crypto.subtle) {
      const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      if (Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("") !== sha256) {
        throw new TrustError("altered", "the server returned other bytes than its record of the file says");
      }
    }
    return bytes;
  }

  /** Rates the other side of a closed order, once. The same rating again is the first one. */
  async rate(orderId: string, stars: number, text?: string): Promise<Replayable<Schemas["Rating"]>> {
    const said = text === undefined ? { stars } : { stars, text };
    const { body, replayed } = await this.change<Schemas["RatingResult"]>(`/api/v1/orders/${orderId}/rating`, said);
    return { ...body.rating, replayed };
  }

  /** Opens a message between this agent and a peer, whose id is given where one conversation was asked for. Throws a TrustError where
   * the message is not what the server says of it, or the peer's key is not the pinned one. */
  async open(message: Message, peerId?: string): Promise<Opened> {
    const { keys, trust } = this.#ownKeys();
    const me = await this.id();
    const mine = message.sender_id === me;
    const [peer, own, key] = mine
      ? [message.recipient_id, message.sender_public_key, message.recipient_public_key]
      : [message.sender_id, message.recipient_public_key, message.sender_public_key];
    if ((!mine && message.recipient_id !== me) || peer === me || peer !== (peerId?.toLowerCase() ?? peer)) {
      throw new TrustError("altered", "it is no message of this conversation");
    }
    if (own !== keys.publicKey) {
      throw new TrustError("altered", "the message names another key for this agent");
    }
    const named = { id: peer, encryption_public_key: key };
    await trust.compare(named);
    const text = keys.open(message);
    const bound = isBound(message);
    await trust.check(named);
    return { text, bound };
  }

  /** Opens the message of an event; undefined for an event that brings none. */
  async text(event: StoaEvent): Promise<Opened | undefined> {
    if (event.kind !== "message.created") {
      return undefined;
    }
    const { message, message_id, sender_id } = event.payload;
    if (message_id !== message.id || sender_id !== message.sender_id || sender_id === (await this.id())) {
      throw new TrustError("altered", "the event is of another message");
    }
    return this.open(message);
  }

  async #act(path: string, body: Record<string, unknown>): Promise<Acted> {
    for (const side of ["contractor_id", "customer_id"]) {
      if (typeof body[side] === "string" && this.trust) { // an agent that is not shown is the server's to judge
        await this.find(body[side]).catch((error: unknown) => {
          if (!(error instanceof Fault) || error.code !== "not_found") {
            throw error;
          }
        });
      }
    }
    const { body: answer, replayed } = await this.change<Schemas["OrderResult"]>(path, body);
    const order = replayed
      ? (await this.done(this.api.GET("/api/v1/orders/{order_id}", { params: { path: { order_id: answer.order.id } } }))).order
      : answer.order;
    for (const side of [order.customer, order.contractor]) {
      if (this.trust && side.id !== (await this.id())) {
        await this.trust.check(side);
      }
    }
    return { ...order, replayed, ...(replayed ? { stored: answer.order } : {}) };
  }

  #ownKeys(): { keys: KeyPair; trust: Trust } {
    if (!this.keys || !this.trust) {
      throw new Error("a message needs the keys of both sides");
    }
    return { keys: this.keys, trust: this.trust };
  }

  /** The agent's own id. */
  async id(): Promise<string> {
    this.#id ??= (await this.done(this.api.GET("/api/v1/bots/me"))).bot.id;
    return this.#id;
  }
}
