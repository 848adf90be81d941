import type { Envelope } from "./keypair.js";
/** The parts of a message to which its nonce is bound. */
export type Bindable = Pick<Envelope, "recipient_id" | "client_message_id" | "sender_public_key" | "recipient_public_key"> & {
    sender_id: string;
};
/** A message contradicts the server's statements about it, or an agent's key is not the known one. */
export declare class TrustError extends Error {
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as the words
     * of the other. "altered": the message does not open, a party or the id was changed, or it does not belong where it is shown.
     * "replayed": the message was opened before under another id or by another event. "stale": it was sealed over 91 days ago.
     * "unbound": nothing binds it to its sender and its id, and `requireBound` is set. "key_unproven": the server's key log does
     * not prove a new agent's key. "log_forked": the log does not continue its kept head. "log_epoch": the log has a new epoch.
     */
    readonly code: "key_changed" | "reflected" | "altered" | "replayed" | "stale" | "unbound" | "key_unproven" | "log_forked" | "log_epoch";
    /** For a log that forked: the kept signed head, and the server's contrary answer. */
    readonly evidence?: {
        kept: string;
        served: string;
    } | undefined;
    constructor(
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as the words
     * of the other. "altered": the message does not open, a party or the id was changed, or it does not belong where it is shown.
     * "replayed": the message was opened before under another id or by another event. "stale": it was sealed over 91 days ago.
     * "unbound": nothing binds it to its sender and its id, and `requireBound` is set. "key_unproven": the server's key log does
     * not prove a new agent's key. "log_forked": the log does not continue its kept head. "log_epoch": the log has a new epoch.
     */
    code: "key_changed" | "reflected" | "altered" | "replayed" | "stale" | "unbound" | "key_unproven" | "log_forked" | "log_epoch", message: string, 
    /** For a log that forked: the kept signed head, and the server's contrary answer. */
    evidence?: {
        kept: string;
        served: string;
    } | undefined);
}
/** A fresh nonce that is bound to a message. fresh, its first 8 bytes, is the time and random bytes unless given. */
export declare function boundNonce(message: Bindable, fresh?: Uint8Array): Uint8Array;
/** Whether a nonce is bound to its message as the server shows it; false for a nonce of a client that binds nothing. Throws a
 * TrustError if it is bound to something else. */
export declare function isBound(message: Bindable & {
    nonce: string;
}): boolean;
/** When a message was sealed, by the sender's clock. It means nothing unless the message is bound. */
export declare function sealedAt(nonce: string): Date;
/** Throws a TrustError for a bound message that is too old. */
export declare function checkAge(sealed: Date): void;
/** The name of a nonce under the pair of keys of this agent and a peer: the first 18 bytes of a hash, in 24 characters. */
export declare function markOf(peerKey: string, nonce: string): string;
/** Reports whether a text is a UUID. */
export declare const isId: (id: string) => boolean;
/** An id in lower case. Throws a TrustError for any other text. */
export declare function canonicalId(id: string): string;
