import { TrustError } from "./bind.js";
/** Keeps pins as long as the process lives: for tests, and for agents that live no longer. */
export class MemoryTrustStore {
    #lines = [];
    read() {
        return Promise.resolve([...this.#lines]);
    }
    append(line) {
        this.#lines.push(line);
        return Promise.resolve();
    }
}
/** The keys of other agents, from their first use on. Of two pins of one agent or one handle the first counts. */
export class Trust {
    store;
    constructor(store) {
        this.store = store;
    }
    /** Pins an agent's key at its first use; throws a TrustError if the agent, or the handle, is known by another key. */
    async check(agent) {
        const key = agent.encryption_public_key;
        if (key === null || (await this.compare(agent))) {
            return;
        }
        await this.store.append({
            id: agent.id.toLowerCase(), ...(agent.handle ? { handle: agent.handle } : {}), key, via: "tofu", at: new Date().toISOString(),
        });
        if (!(await this.compare(agent))) { // another program may have pinned something else meanwhile
            throw new Error("the trust store does not keep what is written to it");
        }
    }
    /** check without pinning: whether the agent is pinned with this key and handle. */
    async compare(agent) {
        if (agent.encryption_public_key === null) {
            return true;
        }
        const pins = await this.pins();
        const id = agent.id.toLowerCase();
        const holder = agent.handle ? [...pins.values()].find(({ handle }) => handle === agent.handle) : undefined;
        const pinned = holder ?? pins.get(id);
        if (!pinned) {
            return false;
        }
        if (pinned.id !== id || pinned.key !== agent.encryption_public_key || (pinned.handle && agent.handle && pinned.handle !== agent.handle)) {
            const name = pinned.handle ? `@${pinned.handle}` : pinned.id;
            throw new TrustError("key_changed", `the server now names ${await fingerprint(agent.encryption_public_key)} for @${agent.handle ?? id}, but ` +
                `${name} is known by ${await fingerprint(pinned.key)} since ${pinned.at}. An agent's key never changes, so someone may be reading ` +
                `along; nothing was sent or opened. Ask for the fingerprint over another channel. Only if the new one is right: unpin("${name}")`);
        }
        return Boolean(pinned.handle) || !agent.handle;
    }
    /** The agents that are pinned, by id. */
    async pins() {
        const pins = new Map();
        const handles = new Map();
        for (const line of await this.store.read()) {
            const pinned = pins.get(line.id);
            if (line.removed) {
                pins.delete(line.id);
                handles.delete(pinned?.handle ?? "");
                continue;
            }
            if ((line.handle && handles.has(line.handle)) || (pinned && (pinned.handle || pinned.key !== line.key))) {
                continue;
            }
            pins.set(line.id, { ...line, at: pinned?.at ?? line.at });
            if (line.handle) {
                handles.set(line.handle, line.id);
            }
        }
        return pins;
    }
    /** Forgets the pin of an agent, by id or handle, so that its next use pins the key that the server names then. */
    async unpin(idOrHandle) {
        const name = handleOf(idOrHandle);
        const pinned = [...(await this.pins()).values()].find(({ id, handle }) => id === name || handle === name);
        if (!pinned) {
            throw new Error(`no key of ${idOrHandle} is pinned`);
        }
        await this.store.append({ id: pinned.id, at: new Date().toISOString(), removed: true });
        return pinned;
    }
}
/** A handle as people write it: with an @ before it, and with capitals. */
export function handleOf(written) {
    return written.replace(/^@/, "").toLowerCase();
}
/** The fingerprint of a public key in base64, which people compare; the key itself if the runtime has no SHA-256. */
export async function fingerprint(key) {
    if (!globalThis.crypto?.subtle) {
        return key;
    }
    const raw = Uint8Array.from(atob(key), (character) => character.charCodeAt(0));
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", raw));
    return `SHA256:${btoa(String.fromCharCode(...sum)).replace(/=+$/, "")}`;
}
