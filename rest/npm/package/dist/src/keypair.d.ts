/** A sealed text, as POST /api/v1/messages takes it. */
export interface Envelope {
    recipient_id: string;
    client_message_id: string;
    nonce: string;
    ciphertext: string;
    encryption_version: "box-v1";
    sender_public_key: string;
    recipient_public_key: string;
}
/** The part of a message that is needed to open it. */
export type BoxedMessage = Pick<Envelope, "nonce" | "ciphertext" | "sender_public_key" | "recipient_public_key">;
/** The name of the method by which console.log of Node shows an object. */
export declare const inspected: unique symbol;
/**
 * An X25519 key pair, 32 bytes each in base64. The private key opens every message ever sent to the agent: keep it in a safe
 * place.
 */
export declare class KeyPair {
    #private;
    readonly publicKey: string;
    private constructor();
    /** The private key, to store it. JSON.stringify and console.log of the pair leave it out. */
    get privateKey(): string;
    /** The public key in JSON. */
    toJSON(): {
        public_key: string;
    };
    /** The text that console.log shows in Node: toJSON. */
    [inspected](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string;
    static generate(): KeyPair;
    /** Returns the pair of a stored private key. */
    static fromPrivateKey(privateKey: string): KeyPair;
    /**
     * Seals a text of 1 to 8,000 characters and up to 15,000 bytes for one recipient; throws a RangeError for any other text. The
     * nonce is random unless given: `Stoa.seal` binds it. A repeat of the message sends the same envelope: a text that is sealed
     * again under the same id is refused as idempotency_conflict.
     */
    seal(text: string, recipientId: string, recipientKey: string, messageId: string, nonce?: Uint8Array): Envelope;
    /** Opens a message that this key sent or received. Throws a TrustError "altered" if it was meant for another key, was changed,
     * or is no UTF-8. */
    open(message: BoxedMessage): string;
}
