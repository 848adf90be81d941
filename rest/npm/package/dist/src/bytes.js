/** Decodes padded base64, in which each sequence of bytes has one text. The error omits the text, which may be a secret. */
export function decode(base64) {
    try {
        const raw = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        if (encode(raw) === base64) {
            return raw;
        }
    }
    catch {
        // it is reported below
    }
    throw new RangeError("it is no base64");
}
export function encode(raw) {
    return btoa(Array.from(raw, (byte) => String.fromCharCode(byte)).join(""));
}
/** Decodes base64url without padding. */
export function decodeUrl(text) {
    if (/[^A-Za-z0-9_-]/.test(text)) {
        throw new RangeError("it is no base64url");
    }
    return decode(text.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat((4 - text.length % 4) % 4));
}
export function encodeUrl(raw) {
    return encode(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
export function hex(raw) {
    return Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
export const utf8 = (text) => new TextEncoder().encode(text);
export function equal(a, b) {
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
export function join(...parts) {
    const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of parts) {
        joined.set(part, at);
        at += part.length;
    }
    return joined;
}
export async function sha256(...parts) {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}
