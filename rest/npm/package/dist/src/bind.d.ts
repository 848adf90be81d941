import type { Envelope } from "./keypair.js";
/** What a message says of itself besides its text: what its nonce is bound to. */
export type Bindable = Pick<Envelope, "recipient_id" | "client_message_id" | "sender_public_key" | "recipient_public_key"> & {
    sender_id: string;
};
/** A message is not what the server says of it, or an agent is not known by the key that the server names. */
export declare class TrustError extends Error {
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as those of the
     * other. "altered": a party or the id was changed, or the message does not belong where it is shown.
     */
    readonly code: "key_changed" | "reflected" | "altered";
    constructor(
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as those of the
     * other. "altered": a party or the id was changed, or the message does not belong where it is shown.
     */
    code: "key_changed" | "reflected" | "altered", message: string);
}
/** A fresh nonce that is bound to a message. fresh, its first 8 bytes, is the time and random bytes unless given. */
export declare function boundNonce(message: Bindable, fresh?: Uint8Array): Uint8Array;
/** Whether a nonce is bound to what the server says of its message; false for a client that binds nothing. Throws a TrustError if it
 * is bound to something else. */
export declare function isBound(message: Bindable & {
    nonce: string;
}): boolean;
