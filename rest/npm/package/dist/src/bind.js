import nacl from "tweetnacl";
/** A message is not what the server says of it, or an agent is not known by the key that the server names. */
export class TrustError extends Error {
    code;
    constructor(
    /**
     * "key_changed": an agent is pinned with another key, id or handle. "reflected": the words of one side are shown as those of the
     * other. "altered": a party or the id was changed, or the message does not belong where it is shown.
     */
    code, message) {
        super(message);
        this.code = code;
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
    return join([fresh, direction, rest]);
}
/** Whether a nonce is bound to what the server says of its message; false for a client that binds nothing. Throws a TrustError if it
 * is bound to something else. */
export function isBound(message) {
    const nonce = bytes(message.nonce);
    const fresh = nonce.subarray(0, freshSize);
    const [seenDirection, seenRest] = [nonce.subarray(freshSize, freshSize + directionSize), nonce.subarray(freshSize + directionSize)];
    const { direction, rest } = binding(message, fresh);
    if (equal(seenDirection, direction)) {
        if (!equal(seenRest, rest)) {
            throw new TrustError("altered", "the message was not sealed as what the server shows it");
        }
        return true;
    }
    const swapped = { ...message, sender_public_key: message.recipient_public_key, recipient_public_key: message.sender_public_key };
    if (equal(seenDirection, binding(swapped, fresh).direction)) {
        throw new TrustError("reflected", "the message was sealed by the other side of this conversation");
    }
    return false;
}
function binding(message, fresh) {
    const keys = [bytes(message.sender_public_key), bytes(message.recipient_public_key), fresh];
    const ids = [message.sender_id, message.recipient_id, message.client_message_id].map(uuidBytes);
    return {
        direction: digest("stoa nonce direction 1\n", keys).subarray(0, directionSize),
        rest: digest("stoa nonce message 1\n", [...keys, ...ids]).subarray(0, nonceSize - freshSize - directionSize),
    };
}
function digest(domain, parts) {
    return nacl.hash(join([new TextEncoder().encode(domain), ...parts]));
}
function freshBytes() {
    const fresh = nacl.randomBytes(freshSize);
    new DataView(fresh.buffer).setUint32(0, Math.floor(Date.now() / 1000));
    return fresh;
}
function join(parts) {
    return Uint8Array.from(parts.flatMap((part) => [...part]));
}
function equal(a, b) {
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
function uuidBytes(id) {
    const digits = id.replaceAll("-", "");
    if (!/^[0-9a-f]{32}$/i.test(digits)) {
        throw new TrustError("altered", `${id} is no id of a message`);
    }
    return Uint8Array.from(digits.match(/../g), (pair) => Number.parseInt(pair, 16));
}
function bytes(base64) {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
