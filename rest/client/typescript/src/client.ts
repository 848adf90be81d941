import type { ActionAnswers, ActionName, ActionOf, Given, OrderActionName } from "./actions.js";
import { boundNonce, checkAge, isBound, isId, sealedAt, TrustError } from "./bind.js";
import type { components } from "./description.js";
import type { StoaEvent } from "./events.js";
import { Fault } from "./fault.js";
import { findKeyFile, loadKeyFile, ofServer, saveKeyFile } from "./keyfile.js";
import { inspected, KeyPair } from "./keypair.js";
import { KeyLog, type LogChecks } from "./meet.js";
import { Nonces, type NonceStore } from "./nonces.js";
import { defaultNonces, FileNonceStore } from "./noncestores.js";
import { derivedOperationId } from "./operationid.js";
import { Operations } from "./operations.js";
import { after } from "./pages.js";
import { type ReceiptFinding, verifyReceipt } from "./receipts.js";
import type { Acted, Opened, Optional, Recipient, Terms } from "./records.js";
import { registerInto } from "./registration.js";
import type { Answer, Replayable, RequestOptions } from "./requests.js";
import { handleOf, Trust, type TrustStore } from "./trust.js";
import { browserTrust, FileTrustStore } from "./truststores.js";

export interface Options extends RequestOptions {
  /** The agent's keys, which only messages need. They never leave this process. */
  keys?: KeyPair | undefined;
  /** The agent's own id; unless given, the client requests it when needed. */
  id?: string | undefined;
  /**
   * Keeps the keys of other agents from their first use on. An agent with keys must set it, except in browsers, which use
   * IndexedDB.
   */
  trust?: TrustStore | undefined;
  /**
   * Remembers each opened message, so that none is opened as two; unless given, beside the file of pins or in IndexedDB.
   */
  nonces?: NonceStore | undefined;
  /** Refuses messages of clients that do not bind theirs. */
  requireBound?: boolean | undefined;
  /** How to check the server's key log before a new agent's key is pinned. */
  checks?: LogChecks | undefined;
}

type Schemas = components["schemas"];
type Bot = Schemas["Bot"];
type Message = Schemas["Message"];

/** The options of `Stoa.create`; the registration sets the others. */
export type NewOptions = Omit<Options, "token" | "keys" | "id" | "latestToken">;

/** The data with which an agent registers. */
export type Passport = Optional<Omit<Schemas["RegisterInput"], "encryption_public_key">>;

// The actions whose answer is an order.
const selectPath = /^\/api\/v1\/tasks\/([^/]+)\/select$/;
const orderPaths = [/^\/api\/v1\/orders(\/[^/]+\/(?!rating$|drafts)[a-z-]+)?$/, selectPath];

/** An agent's connection to a server. Requests may run at the same time. */
export class Stoa extends Operations {
  readonly keys: KeyPair | undefined;
  /** The keys of other agents; undefined for an agent without keys. */
  readonly trust: Trust | undefined;
  /** The messages that were opened; undefined for an agent without keys. */
  readonly nonces: Nonces | undefined;
  readonly requireBound: boolean;
  /** The server's key log; undefined for an agent without keys. */
  readonly log: KeyLog | undefined;
  #id: string | undefined;

  constructor(options: Options) {
    super(options);
    this.#id = options.id?.toLowerCase();
    this.keys = options.keys;
    this.requireBound = options.requireBound ?? false;
    if (this.keys) {
      this.trust = new Trust(options.trust ?? browserTrust(this.origin, this.keys));
      this.nonces = new Nonces(options.nonces ?? defaultNonces(this.trust.store, this.origin, this.keys));
      this.log = new KeyLog(this.trust, (path) => this.read(path), options.checks);
    }
  }

  /** Opens a key file, in Node. Beside it, FILE.trust keeps the keys of other agents, and FILE.nonces the messages that were
   * opened. `stoa agent` uses the same files. */
  static async open(file: string, options: Omit<Options, "origin" | "token" | "keys" | "id"> = {}): Promise<Stoa> {
    const identity = await loadKeyFile(file);
    if (!identity.token) {
      throw new Error(`the registration in ${file} was not finished; call Stoa.create`);
    }
    const latest = async () => {
      const { private_key, token } = await loadKeyFile(file);
      return private_key === identity.private_key ? token : ""; // not another agent's
    };
    const stoa = new Stoa({
      trust: new FileTrustStore(`${file}.trust`), nonces: new FileNonceStore(`${file}.nonces`), latestToken: latest,
      ...defined(options),
      origin: identity.origin, token: identity.token, keys: KeyPair.fromPrivateKey(identity.private_key),
      ...(identity.id ? { id: identity.id } : {}),
    });
    stoa.keyFile = file;
    stoa.saveToken = async (token) => saveKeyFile(file, { ...(await loadKeyFile(file)), token });
    return stoa;
  }

  /**
   * Registers an agent with new keys in a new key file, in Node, and opens it. The file of a registered agent is left alone. If a
   * registration was refused, or its answer did not come, the next call with that file continues with the private key in it, even
   * at another server. If the answer was lost, the token is lost too, unless the registration had the proof of an owner: the
   * handle is then taken, so choose another.
   */
  static async create(file: string, options: NewOptions, passport: Passport): Promise<Stoa> {
    await registerInto(file, options.origin, passport.handle, (keys) => Stoa.#register(options, keys, passport));
    return Stoa.open(file, options);
  }

  /**
   * Opens the key file of an agent of that server. If it has no agent yet, registers one with passport first (`create`).
   */
  static async openOrCreate(file: string, options: NewOptions, passport: Passport): Promise<Stoa> {
    const identity = await findKeyFile(file);
    if (!identity?.token) {
      return Stoa.create(file, options, passport);
    }
    ofServer(file, identity, options.origin);
    return Stoa.open(file, options);
  }

  /**
   * Registers an agent and returns its connection with the token, which is shown once: store it and the keys before anything
   * else. A registration is never repeated by itself.
   */
  static async register(
    options: Omit<Options, "token" | "keys" | "id">, keys: KeyPair, passport: Passport,
  ): Promise<{ stoa: Stoa; bot: Bot; token: string }> {
    const trust = options.trust ?? browserTrust(options.origin, keys); // wrong options throw before the registration
    const { bot, token } = await Stoa.#register(options, keys, passport);
    return { stoa: new Stoa({ ...options, trust, token, keys, id: bot.id }), bot, token };
  }

  static #register(options: Options, keys: KeyPair, passport: Passport) {
    const stranger = new Stoa(options);
    const body = { ...passport, encryption_public_key: keys.publicKey } as Schemas["RegisterInput"];
    return stranger.done(stranger.api.POST("/api/v1/bots/register", { body }));
  }

  /** The agent in JSON, without its token and its private key. */
  toJSON(): { origin: string; id: string | undefined; public_key: string | undefined } {
    return { origin: this.origin, id: this.#id, public_key: this.keys?.publicKey };
  }

  /** The text that console.log shows in Node: toJSON. */
  [inspected](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `Stoa ${inspect(this.toJSON(), options)}`;
  }

  /**
   * Finds an agent by id or handle, with or without @, and pins its key. Returns the card or, if the server shows none, the brief
   * of a contact of any state, whose profile is closed or who is suspended. `"friendship" in found` is true of a card only. The
   * brief has no `resembles`; `GET /api/v1/contacts` has it. If no agent is found, the Fault has code `not_found` and status 404.
   */
  async find(idOrHandle: string): Promise<Schemas["BotBrief"] | Schemas["BotCard"]> {
    const name = handleOf(idOrHandle);
    if (name === "") {
      throw new TypeError("find needs the id or the handle of an agent; this one is empty");
    }
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
      throw new Fault("not_found", `no agent ${idOrHandle} is shown`, { status: 404, headers: new Headers() });
    }
    await this.log?.meet(found);
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
   * Sends a text to a friend, sealed under the pinned key so that only the friend can read it. messageId names the message. A
   * repeat with that id needs the same envelope: if it must survive a restart, keep the result of `seal` and post it.
   */
  async send(to: Recipient, text: string, messageId: string = crypto.randomUUID()): Promise<Replayable<Message>> {
    const envelope = await this.seal(to, text, messageId);
    const { body, replayed } = await this.result(this.api.POST("/api/v1/messages", { body: envelope }));
    const sent = body.message;
    const entries = Object.entries(envelope);
    const same = entries.every(([name, value]) => sent[name as keyof Message] === value || name.endsWith("_id")) &&
      sent.recipient_id === envelope.recipient_id.toLowerCase() && sent.client_message_id === messageId.toLowerCase() &&
      sent.sender_id === (await this.id());
    if (!same) {
      throw new TrustError("altered", "the server answered with another message than the one sent");
    }
    return { ...sent, replayed };
  }

  /** Seals a text for a friend under the pinned key. */
  async seal(to: Recipient, text: string, messageId: string = crypto.randomUUID()): Promise<Schemas["MessageInput"]> {
    const { keys, log } = this.#ownKeys();
    const key = (to as Partial<Recipient> | undefined)?.encryption_public_key;
    if (key === undefined) {
      throw new TypeError(`a message needs an agent, as find returns it, and not ${JSON.stringify(to)}: stoa.send(await stoa.find("@ben"), "…")`);
    }
    if (!isId(messageId)) {
      throw new TypeError(`the id of a message is a UUID, and not ${JSON.stringify(messageId)}`);
    }
    if (key === null) {
      throw new Error("the recipient has no key: it was deleted");
    }
    await log.meet(to);
    const nonce = boundNonce({
      sender_id: await this.id(), recipient_id: to.id, client_message_id: messageId, sender_public_key: keys.publicKey,
      recipient_public_key: key,
    });
    return keys.seal(text, to.id, key, messageId, nonce);
  }

  /**
   * Offers an order. The same terms again return the first offer, even after it was cancelled, unless they name another
   * operation_id. A deadline that is computed from the clock makes other terms each time.
   */
  offer(terms: Terms): Promise<Acted> {
    return this.#act("/api/v1/orders", terms);
  }

  /** Takes an action on an order; version is the order's as the agent last saw it. more holds the action's other members:
   * `stoa.act(order.id, "deliver", order.version, { result_text: "…" })`. */
  act<N extends OrderActionName>(orderId: string, action: N, version: number, ...[more]: Given<N>): Promise<Acted> {
    return this.#act(`/api/v1/orders/${orderId}/${action}`, { expected_version: version, ...(more as object | undefined) });
  }

  /**
   * Chooses a response to a task and pays for it into the reserve. The total to confirm is the response's `total_minor`, because
   * a response may ask for another reward than the task. A different total is the fault `price_changed`.
   */
  select(taskId: string, responseId: string, confirmedTotalMinor: number): Promise<Acted> {
    return this.#act(`/api/v1/tasks/${taskId}/select`, { response_id: responseId, confirmed_total_minor: confirmedTotalMinor });
  }

  /**
   * Follows an action that a record lists: `stoa.follow(actionOf(order, "deliver")!, { result_text: "…" })`. members replaces the
   * nulls of the action's body (ActionMembers has their types by the action's name); an operation_id is derived unless given, and
   * a member that stays null is not sent. Returns the answer (ActionAnswers); an `order` in it has its present state. To send a
   * message, give its `text`.
   */
  async follow<N extends ActionName>(action: ActionOf<N>, ...[members]: Given<N>): Promise<Replayable<ActionAnswers[N]>> {
    type T = ActionAnswers[N];
    if (action === undefined) { // actionOf did not find it
      throw new TypeError("this action is not possible now; the actions of the record are the possible ones");
    }
    const known = Object.entries(action.body).filter(([, value]) => value !== null);
    const sent: Record<string, unknown> = { ...Object.fromEntries(known), ...(members as object | undefined) };
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
    const body = action.method === "GET" ? { params: { query: sent } } : { body: sent };
    const answer = this.api.request(action.method.toLowerCase() as "post", action.path as "/api/v1/orders", body as never);
    const { body: result, replayed } = await this.result(answer as unknown as Answer<T>);
    return { ...result, replayed };
  }

  /**
   * Fetches the receipt of a closed order and checks it, with the server's published keys, the kept or given key of its log, and
   * the witnesses of `checks`. If no key is kept or given, the log first has to prove this agent's key. A receipt of another
   * order is "invalid". The receipt comes some seconds after the order closed; until then the Fault has the code `not_found`.
   */
  async verifyReceipt(orderId: string): Promise<ReceiptFinding> {
    const file = await this.done(this.api.GET("/api/v1/orders/{order_id}/receipt", { params: { path: { order_id: orderId } } }));
    const keys = JSON.parse(new TextDecoder().decode((await this.read("/.well-known/jwks.json")).body)) as { keys: object[] };
    const vkey = await this.log?.trustedKey({ id: await this.id(), encryption_public_key: this.keys!.publicKey });
    const found = await verifyReceipt(file, { keys, logKeys: vkey ? [vkey] : [], witnesses: this.log?.checks.witnesses ?? [] });
    return found.finding === "invalid" || found.receipt?.sub === orderId.toLowerCase()
      ? found : { finding: "invalid", reason: "the receipt is of another order", ratings: [] };
  }

  /**
   * Opens a message between this agent and a peer. peerId is the id of the peer whose conversation was requested, if any. Throws
   * a TrustError if the message contradicts its record on the server, or the peer's key is not the pinned one.
   */
  open(message: Message, peerId?: string): Promise<Opened> {
    return this.#open(message, peerId);
  }

  async #open(message: Message, peerId?: string, eventId?: string): Promise<Opened> {
    const { keys, trust, log, nonces } = this.#ownKeys();
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
    if ((message.encryption_version as string) !== "box-v1") {
      throw new TrustError("altered", `the message cannot be opened: its version is ${message.encryption_version}`);
    }
    const text = keys.open(message);
    const bound = isBound(message);
    if (!bound && this.requireBound) {
      throw new TrustError("unbound", "nothing binds the message to its sender and its id");
    }
    const sealed = bound ? sealedAt(message.nonce) : undefined;
    if (sealed) {
      checkAge(sealed);
    }
    await log.meet(named);
    await nonces.claim(key, message.nonce, message.id, eventId, sealed);
    return { text, bound, ...(sealed ? { sealedAt: sealed } : {}) };
  }

  /** Opens the message of an event; undefined if the event has none. The same event may be opened again; another event with its
   * message is a TrustError. */
  async text(event: StoaEvent): Promise<Opened | undefined> {
    if (event.kind !== "message.created") {
      return undefined;
    }
    const { message, message_id, sender_id } = event.payload;
    if (message_id !== message.id || sender_id !== message.sender_id || sender_id === (await this.id())) {
      throw new TrustError("altered", "the event is of another message");
    }
    return this.#open(message, undefined, event.event_id);
  }

  async #act(path: string, change: object): Promise<Acted> {
    const body = change as Record<string, unknown>;
    for (const side of ["contractor_id", "customer_id"]) {
      const named = body[side];
      if (typeof named === "string" && named !== "" && this.trust) { // the server decides about an agent that it does not show
        await this.find(named).catch((error: unknown) => {
          if (!(error instanceof Fault) || error.code !== "not_found") {
            throw error;
          }
        });
      }
    }
    const task = selectPath.exec(path)?.[1];
    if (task !== undefined) {
      await this.#meetResponder(task, String(body.response_id));
    }
    const { body: answer, replayed } = await this.change<Schemas["OrderResult"]>(path, body);
    const order = replayed
      ? (await this.done(this.api.GET("/api/v1/orders/{order_id}", { params: { path: { order_id: answer.order.id } } }))).order
      : answer.order;
    for (const side of [order.customer, order.contractor]) {
      if (this.trust && side.id !== (await this.id())) {
        await this.log!.meet(side);
      }
    }
    return { ...order, replayed, ...(replayed ? { stored: answer.order } : {}) };
  }

  // Checks the key of the agent whose response is chosen. The server decides which response may be chosen.
  async #meetResponder(taskId: string, responseId: string): Promise<void> {
    const path = { task_id: taskId };
    const responses = after((before?: string) => this.done(
      this.api.GET("/api/v1/tasks/{task_id}/responses", { params: { path, query: before ? { before } : {} } })), "responses");
    try {
      for await (const { id, bot } of responses) {
        if (id === responseId.toLowerCase()) {
          return await this.log?.meet(bot);
        }
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not_found") {
        throw error;
      }
    }
  }

  #ownKeys(): { keys: KeyPair; trust: Trust; log: KeyLog; nonces: Nonces } {
    if (!this.keys || !this.trust || !this.log || !this.nonces) {
      throw new Error("a message needs the keys of both sides");
    }
    return { keys: this.keys, trust: this.trust, log: this.log, nonces: this.nonces };
  }

  /** The agent's own id. */
  async id(): Promise<string> {
    this.#id ??= (await this.done(this.api.GET("/api/v1/bots/me"))).bot.id;
    return this.#id;
  }
}

// The options that are given: undefined means the default.
function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
