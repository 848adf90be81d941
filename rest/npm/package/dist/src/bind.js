import nacl from "tweetnacl";
import { decode, encodeUrl, equal, join, utf8 } from "./bytes.js";
/** A message contradicts the server's statements about it, or an agent's key is not the known one. */
export class TrustError extends Error {
    code;
    evidence;
    constructor(
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as the words
     * of the other. "altered": the message does not open, a party or the id was changed, or it does not belong where it is shown.
     * "replayed": the message was opened before under another id or by another event. "stale": it was sealed over 91 days ago.
     * "unbound": nothing binds it to its sender and its id, and `requireBound` is set. "key_unproven": the server's key log does
     * not prove a new agent's key. "log_forked": the log does not continue its kept head. "log_epoch": the log has a new epoch.
     */
    code, message, 
    /** For a log that forked: the kept signed head, and the server's contrary answer. */
    evidence) {
        super(message);
        this.code = code;
        this.evidence = evidence;
        this.name = "TrustError";
    }
}
// The parts of a bound nonce in bytes: the time and random bytes, the direction, the rest.
const freshSize = 8;
const directionSize = 6;
const nonceSize = nacl.box.nonceLength;
/** A fresh nonce that is bound to a message. fresh, its first 8 bytes, is the time and random bytes unless given. */
export function boundNonce(message, fresh = freshBytes()) {
    const { direction, rest } = binding(message, fresh);
    return join(fresh, direction, rest);
}
/** Whether a nonce is bound to its message as the server shows it; false for a nonce of a client that binds nothing. Throws a
 * TrustError if it is bound to something else. */
export function isBound(message) {
    const nonce = decode(message.nonce);
    const fresh = nonce.subarray(0, freshSize);
    const [seenDirection, seenRest] = [nonce.subarray(freshSize, freshSize + directionSize), nonce.subarray(freshSize + directionSize)];
    const { direction, rest } = binding(message, fresh);
    const swapped = binding({
        sender_id: message.recipient_id, recipient_id: message.sender_id, client_message_id: message.client_message_id,
        sender_public_key: message.recipient_public_key, recipient_public_key: message.sender_public_key,
    }, fresh);
    const oneKey = message.sender_public_key === message.recipient_public_key; // then the rest alone decides
    if (equal(seenDirection, direction) && equal(seenRest, rest)) {
        return true;
    }
    if (equal(seenDirection, swapped.direction) && (!oneKey || equal(seenRest, swapped.rest))) {
        throw new TrustError("reflected", "the message was sealed by the other side of this conversation");
    }
    if (equal(seenDirection, direction)) {
        throw new TrustError("altered", "the message was not sealed as what the server shows it");
    }
    return false;
}
/** When a message was sealed, by the sender's clock. It means nothing unless the message is bound. */
export function sealedAt(nonce) {
    const raw = decode(nonce);
    return new Date(1000 * new DataView(raw.buffer).getUint32(0));
}
// The maximum age of a bound message. Clients forget an envelope after that time, and a server keeps a message for 90 days.
const staleAfter = 91 * 24 * 3600 * 1000;
/** Throws a TrustError for a bound message that is too old. */
export function checkAge(sealed) {
    if (Date.now() - sealed.getTime() > staleAfter) {
        throw new TrustError("stale", `the message was sealed over 91 days ago: on ${sealed.toISOString().slice(0, 10)}`);
    }
}
function binding(message, fresh) {
    const keys = [decode(message.sender_public_key), decode(message.recipient_public_key), fresh];
    const ids = [message.sender_id, message.recipient_id, message.client_message_id].map(uuidBytes);
    return {
        direction: digest("stoa nonce direction 1\n", keys).subarray(0, directionSize),
        rest: digest("stoa nonce message 1\n", [...keys, ...ids]).subarray(0, nonceSize - freshSize - directionSize),
    };
}
const markSize = 18;
/** The name of a nonce under the pair of keys of this agent and a peer: the first 18 bytes of a hash, in 24 characters. */
export function markOf(peerKey, nonce) {
    const sum = digest("stoa nonce memory 1\n", [decode(peerKey), decode(nonce)]).subarray(0, markSize);
    return encodeUrl(sum);
}
/** Reports whether a text is a UUID. */
export const isId = (id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id);
/** An id in lower case. Throws a TrustError for any other text. */
export function canonicalId(id) {
    if (!isId(id)) {
        throw new TrustError("altered", `${id} is no id`);
    }
    return id.toLowerCase();
}
function digest(domain, parts) {
    return nacl.hash(join(utf8(domain), ...parts));
}
function freshBytes() {
    const fresh = nacl.randomBytes(freshSize);
    new DataView(fresh.buffer).setUint32(0, Math.floor(Date.now() / 1000));
    return fresh;
}
function uuidBytes(id) {
    return Uint8Array.from(canonicalId(id).replaceAll("-", "").match(/../g), (pair) => Number.parseInt(pair, 16));
}
