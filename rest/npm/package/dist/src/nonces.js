import { canonicalId, markOf, TrustError } from "./bind.js";
/** The minimum time for which an opening is remembered: one day longer than a bound message can be opened. */
export const keptFor = 92 * 24 * 3600 * 1000;
/** Keeps openings in memory: for tests, and for agents that end with the process. */
export class MemoryNonceStore {
    #lines = new Map();
    #looked = 0;
    find(mark) {
        return Promise.resolve((this.#lines.get(mark) ?? []).map(({ line }) => line));
    }
    append(line, until) {
        this.#forget();
        this.#lines.set(line.mark, [...(this.#lines.get(line.mark) ?? []), { line, until: until.getTime() }]);
        return Promise.resolve();
    }
    // Once a day.
    #forget() {
        const now = Date.now();
        if (now - this.#looked < 24 * 3600 * 1000) {
            return;
        }
        this.#looked = now;
        for (const [mark, lines] of this.#lines) {
            if (lines.every(({ until }) => until < now)) {
                this.#lines.delete(mark);
            }
        }
    }
}
/** Remembers each opened message, so that a server cannot show one message as two: a nonce, under one pair of keys,
 * belongs to one message and to one event. */
export class Nonces {
    store;
    constructor(store) {
        this.store = store;
    }
    /** Remembers that the message with that id is opened, brought by an event or read in a list. Throws a TrustError if its nonce
     * was opened as another message or by another event. sealed is the time at which a bound message was sealed. */
    async claim(peerKey, nonce, messageId, eventId, sealed) {
        const wanted = { mark: markOf(peerKey, nonce), message: canonicalId(messageId) };
        if (eventId !== undefined) {
            wanted.event = canonicalId(eventId);
        }
        if (await this.#compare(wanted)) {
            return;
        }
        const from = Math.max(Date.now(), sealed?.getTime() ?? 0); // a time in the future is remembered longer
        await this.store.append(wanted, new Date(from + keptFor));
        if (!(await this.#compare(wanted))) { // another program may have opened it as another message meanwhile
            throw new Error("the nonce store does not keep its writes");
        }
    }
    /** Reports whether this opening is stored. If a nonce has several lines, the first message and its first event count. */
    async #compare({ mark, message, event }) {
        const lines = await this.store.find(mark);
        const first = lines[0];
        if (!first) {
            return false;
        }
        const brought = lines.find((line) => line.message === first.message && line.event !== undefined)?.event;
        if (first.message !== message || (event !== undefined && brought !== undefined && brought !== event)) {
            throw new TrustError("replayed", "the message was opened before under another id or by another event");
        }
        return event === undefined || brought === event;
    }
}
