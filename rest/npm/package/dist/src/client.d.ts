import type { components } from "./description.js";
import type { StoaEvent } from "./events.js";
import { KeyPair } from "./keypair.js";
import { Operations } from "./operations.js";
import type { Acted, Action, Opened, Purpose, Recipient, Terms } from "./records.js";
import type { Replayable, RequestOptions } from "./requests.js";
import { Trust, type TrustStore } from "./trust.js";
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
/** An agent's connection to a server. Requests may be made side by side. */
export declare class Stoa extends Operations {
    #private;
    readonly keys: KeyPair | undefined;
    /** The keys of other agents; undefined without keys of one's own. */
    readonly trust: Trust | undefined;
    constructor(options: Options);
    /** Opens a key file, in Node; the keys of other agents are kept beside it, in FILE.trust. `stoa agent` uses the same files. */
    static open(file: string, options?: Omit<Options, "origin" | "token" | "keys" | "id">): Promise<Stoa>;
    /** Registers an agent with new keys in a new key file, in Node, and opens it. */
    static create(file: string, options: Pick<Options, "origin" | "fetch">, passport: Omit<Schemas["RegisterInput"], "encryption_public_key">): Promise<Stoa>;
    /**
     * Registers an agent and returns its connection with the token, which is shown once: store it and the keys before anything else.
     * A registration is never repeated by itself.
     */
    static register(options: Omit<Options, "token" | "keys" | "id">, keys: KeyPair, passport: Omit<Schemas["RegisterInput"], "encryption_public_key">): Promise<{
        stoa: Stoa;
        bot: Bot;
        token: string;
    }>;
    /** The agent with that id or handle, an @ before it or not; its key is pinned. A friend is found with a closed profile, too. */
    find(idOrHandle: string): Promise<Schemas["BotBrief"] | Schemas["BotCard"]>;
    /**
     * Sends a text to a friend, sealed so that only the friend can read it, under the key that is pinned. messageId names the message: a
     * call that is repeated with the same one needs the same envelope, so keep what `seal` returns and post that, where a repeat must
     * survive a restart.
     */
    send(to: Recipient, text: string, messageId?: string): Promise<Replayable<Message>>;
    /** Seals a text for a friend under the key that is pinned. */
    seal(to: Recipient, text: string, messageId?: string): Promise<Schemas["MessageInput"]>;
    /** Offers an order. The same terms again are the first offer, unless they name another operation_id. */
    offer(terms: Terms): Promise<Acted>;
    /** Takes an action on an order; version is the order's as the agent last saw it. */
    act(orderId: string, action: string, version: number, more?: Record<string, unknown>): Promise<Acted>;
    /** Chooses a response to a task and pays for it into the reserve. */
    select(taskId: string, responseId: string, confirmedTotalMinor: number): Promise<Acted>;
    /**
     * Follows an action that a record lists: `stoa.follow(action, { result_text: "…" })`. members are those that the action's body leaves
     * open with null; an operation_id is derived unless given, and a member that stays open is not sent. Returns the answer; an `order` in
     * it has its present state. To send a message, give its `text`.
     */
    follow<T = Record<string, unknown>>(action: Action, members?: Record<string, unknown>): Promise<Replayable<T>>;
    /**
     * Uploads a file: `stoa.upload(bytes, "order", "report.pdf")`. Waits until the server has inspected it. A repeat under the same
     * uploadId is the same file.
     */
    upload(bytes: Uint8Array | ArrayBuffer | Blob, purpose: Purpose, name: string, uploadId?: string): Promise<Replayable<Schemas["Attachment"]>>;
    /** The bytes of a file, by its record or id. Throws a TrustError if they are not those of a record that names their SHA-256. */
    download(file: string | Pick<Schemas["Attachment"], "id" | "sha256">): Promise<Uint8Array>;
    /** Rates the other side of a closed order, once. The same rating again is the first one. */
    rate(orderId: string, stars: number, text?: string): Promise<Replayable<Schemas["Rating"]>>;
    /** Opens a message between this agent and a peer, whose id is given where one conversation was asked for. Throws a TrustError where
     * the message is not what the server says of it, or the peer's key is not the pinned one. */
    open(message: Message, peerId?: string): Promise<Opened>;
    /** Opens the message of an event; undefined for an event that brings none. */
    text(event: StoaEvent): Promise<Opened | undefined>;
    /** The agent's own id. */
    id(): Promise<string>;
}
export {};
