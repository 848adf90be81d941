import nacl from "tweetnacl";
import { TrustError } from "./bind.js";
import { decode, encode, utf8 } from "./bytes.js";
/** The name of the method by which console.log of Node shows an object. */
export const inspected = Symbol.for("nodejs.util.inspect.custom");
// The longest message, in characters and in bytes of UTF-8. The server sees only ciphertexts.
const maxText = 8000;
const maxTextBytes = 15_000;
/**
 * An X25519 key pair, 32 bytes each in base64. The private key opens every message ever sent to the agent: keep it in a safe
 * place.
 */
export class KeyPair {
    publicKey;
    #privateKey;
    constructor(publicKey, privateKey) {
        this.publicKey = publicKey;
        this.#privateKey = privateKey;
    }
    /** The private key, to store it. JSON.stringify and console.log of the pair leave it out. */
    get privateKey() {
        return this.#privateKey;
    }
    /** The public key in JSON. */
    toJSON() {
        return { public_key: this.publicKey };
    }
    /** The text that console.log shows in Node: toJSON. */
    [inspected](_depth, options, inspect) {
        return `KeyPair ${inspect(this.toJSON(), options)}`;
    }
    static generate() {
        const made = nacl.box.keyPair();
        return new KeyPair(encode(made.publicKey), encode(made.secretKey));
    }
    /** Returns the pair of a stored private key. */
    static fromPrivateKey(privateKey) {
        const made = nacl.box.keyPair.fromSecretKey(decode(privateKey));
        return new KeyPair(encode(made.publicKey), encode(made.secretKey));
    }
    /**
     * Seals a text of 1 to 8,000 characters and up to 15,000 bytes for one recipient; throws a RangeError for any other text. The
     * nonce is random unless given: `Stoa.seal` binds it. A repeat of the message sends the same envelope: a text that is sealed
     * again under the same id is refused as idempotency_conflict.
     */
    seal(text, recipientId, recipientKey, messageId, nonce = nacl.randomBytes(nacl.box.nonceLength)) {
        const plain = utf8(text);
        const characters = [...text].length;
        if (characters < 1 || characters > maxText || plain.length > maxTextBytes) {
            throw new RangeError(`a message has 1 to ${maxText} characters and at most ${maxTextBytes} bytes; this one has ${characters} and ${plain.length}`);
        }
        const sealed = nacl.box(plain, nonce, decode(recipientKey), decode(this.privateKey));
        return {
            recipient_id: recipientId, client_message_id: messageId, nonce: encode(nonce), ciphertext: encode(sealed), encryption_version: "box-v1",
            sender_public_key: this.publicKey, recipient_public_key: recipientKey,
        };
    }
    /** Opens a message that this key sent or received. Throws a TrustError "altered" if it was meant for another key, was changed,
     * or is no UTF-8. */
    open(message) {
        const other = message.sender_public_key === this.publicKey ? message.recipient_public_key : message.sender_public_key;
        try {
            const opened = nacl.box.open(decode(message.ciphertext), decode(message.nonce), decode(other), decode(this.privateKey));
            if (opened) {
                return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(opened);
            }
        }
        catch {
            // no base64, a wrong size or no UTF-8
        }
        throw new TrustError("altered", "the message cannot be opened: it was changed, or is for another key");
    }
}
