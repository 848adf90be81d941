import { TrustError } from "./bind.js";
import { decode, encode, sha256 } from "./bytes.js";

/** The key by which this agent knows another one, as a line of FILE.trust (docs/clients.md). */
export interface Pin {
  id: string;
  /** Missing until the server has named it beside the key. */
  handle?: string;
  /** The public key in base64. */
  key?: string;
  /** The evidence for the key: tofu, trust on first use; log, the key log; fingerprint, a person who compared it. */
  via?: string;
  /** The index of the agent's entry, if the key log vouches for the key. */
  index?: number;
  /** When it was written. */
  at: string;
  /** Marks a line that removes the agent's pin. */
  removed?: boolean;
}

/** A head of the server's key log that was checked. */
export interface KeptHead {
  origin: string;
  /** The key of the log under which the head was checked. */
  vkey: string;
  size: number;
  /** The root in base64. */
  root: string;
  /** The signed note. */
  checkpoint: string;
  /** The number of earlier heads in the store that it was proven to continue. */
  over: number;
  /** Set if the log has a new key since this head, or if the head begins a new epoch. */
  accepted?: "rotation" | "epoch";
}

/** A line that keeps a head. */
export interface LogLine {
  log: KeptHead;
  at: string;
}

export type TrustLine = Pin | LogLine;

/** The kept state of the log: its key, the heads that the next head must continue, and the largest of these heads. */
export interface KeptLog {
  vkey: string;
  rotated: boolean;
  open: KeptHead[];
  newest: KeptHead | undefined;
  count: number;
}

/**
 * Stores pins and heads of the key log: lines are only appended, and are stored when append resolves. Several programs may share
 * a store.
 */
export interface TrustStore {
  read(): Promise<TrustLine[]>;
  append(line: TrustLine): Promise<void>;
  /** Keeps evidence that a log lies; returns its place, or undefined if there is enough earlier evidence. */
  evidence?(of: { kept: string; served: string }): Promise<string | undefined>;
}

/** Keeps pins in memory: for tests, and for agents that end with the process. */
export class MemoryTrustStore implements TrustStore {
  readonly #lines: TrustLine[] = [];

  read(): Promise<TrustLine[]> {
    return Promise.resolve([...this.#lines]);
  }

  append(line: TrustLine): Promise<void> {
    this.#lines.push(line);
    return Promise.resolve();
  }
}

/** An agent as every record shows it. A deleted agent has no key. */
export interface Named {
  id: string;
  handle?: string | undefined;
  encryption_public_key: string | null;
}

// The values of via: a later one replaces an earlier one.
const evidence = ["tofu", "log", "fingerprint"];

/** The keys of other agents, from their first use on. Of two pins of one agent or one handle the first counts. */
export class Trust {
  constructor(readonly store: TrustStore) {}

  /** Pins an agent's key at its first use, without the key log; throws a TrustError if the agent, or the handle, is known by
   * another key. */
  check(agent: Named): Promise<void> {
    return this.pin(agent, "tofu");
  }

  /** Pins an agent, or marks its pin as proven by more than first use. */
  async pin(agent: Named, via: string, index?: number): Promise<void> {
    const key = agent.encryption_public_key;
    const id = agent.id.toLowerCase();
    const known = await this.knows(agent);
    if (key === null || (known === "pinned" && (via === "tofu" || (await this.pins()).get(id)?.via !== "tofu"))) {
      return;
    }
    await this.store.append({
      id, ...(agent.handle ? { handle: agent.handle } : {}), key, via, ...(index === undefined ? {} : { index }),
      at: new Date().toISOString(),
    });
    if ((await this.knows(agent)) !== "pinned") { // another program may have pinned something else meanwhile
      throw new Error("the trust store does not keep its writes");
    }
  }

  /** Like check, but without pinning: reports whether the agent is pinned with this key and handle. */
  async compare(agent: Named): Promise<boolean> {
    return (await this.knows(agent)) === "pinned";
  }

  /** Whether an agent with this key and handle matches the pins. without_handle: id and key are pinned, but not the handle that
   * the server now names. */
  async knows(agent: Named): Promise<"unknown" | "without_handle" | "pinned"> {
    if (agent.encryption_public_key === null) {
      return "pinned";
    }
    const pins = await this.pins();
    const id = agent.id.toLowerCase();
    const holder = agent.handle ? [...pins.values()].find(({ handle }) => handle === agent.handle) : undefined;
    const pinned = holder ?? pins.get(id);
    if (!pinned) {
      return "unknown";
    }
    if (pinned.id !== id || pinned.key !== agent.encryption_public_key || (pinned.handle && agent.handle && pinned.handle !== agent.handle)) {
      const name = pinned.handle ? `@${pinned.handle}` : pinned.id;
      const named = await fingerprint(agent.encryption_public_key).catch(() => agent.encryption_public_key); // it may be no base64
      throw new TrustError("key_changed", `the server now names ${named} for @${agent.handle ?? id}, but ` +
        `${name} is known by ${await fingerprint(pinned.key!)} since ${pinned.at}. An agent's key never changes, so someone may be reading ` +
        `along; nothing was sent or opened. Ask for the fingerprint over another channel. Only if the new one is right: unpin("${name}")`);
    }
    return pinned.handle || !agent.handle ? "pinned" : "without_handle";
  }

  /** The agents that are pinned, by id. */
  async pins(): Promise<Map<string, Pin>> {
    const pins = new Map<string, Pin>();
    const handles = new Map<string, string>();
    for (const line of await this.store.read()) {
      if (!("id" in line)) {
        continue;
      }
      const pinned = pins.get(line.id);
      if (line.removed) {
        pins.delete(line.id);
        handles.delete(pinned?.handle ?? "");
        continue;
      }
      if (pinned && pinned.key === line.key && pinned.handle === line.handle) {
        if (evidence.indexOf(line.via ?? "tofu") > evidence.indexOf(pinned.via ?? "tofu")) {
          pins.set(line.id, { ...pinned, ...line, at: pinned.at });
        }
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

  /** The kept state of the server's key log. */
  async log(): Promise<KeptLog> {
    const { heads, vkey } = await this.#heads();
    const over = Math.min(Math.max(heads.at(-1)?.over ?? 0, 0), Math.max(heads.length - 1, 0));
    const open = heads.slice(over);
    const newest = open.reduce<KeptHead | undefined>((great, head) => (great && great.size >= head.size ? great : head), undefined);
    return { vkey, rotated: vkey !== (heads[0]?.vkey ?? ""), open, newest, count: heads.length };
  }

  /** Keeps a head that continues all of kept, unless nothing has changed. */
  async keep(head: KeptHead, kept: KeptLog): Promise<void> {
    const [only] = kept.open;
    if (!head.accepted && kept.open.length === 1 && only?.size === head.size && only.root === head.root) {
      return;
    }
    const over = head.accepted === "epoch" ? 0 : kept.count;
    await this.store.append({ log: { ...head, over }, at: new Date().toISOString() });
    if (!(await this.#heads()).heads.some(({ checkpoint }) => checkpoint === head.checkpoint)) {
      throw new Error("another program has kept the head of another log");
    }
  }

  // The heads of the present log, in the order of the store, and its valid key.
  async #heads(): Promise<{ heads: KeptHead[]; vkey: string }> {
    let [heads, vkey] = [[] as KeptHead[], ""];
    for (const line of await this.store.read()) {
      if (!("log" in line)) {
        continue;
      }
      if (heads.length === 0 || line.log.accepted === "epoch") {
        [heads, vkey] = [[line.log], line.log.vkey];
      } else if (line.log.origin === heads[0]!.origin) {
        vkey = line.log.accepted === "rotation" ? line.log.vkey : vkey;
        heads.push(line.log);
      }
    }
    return { heads, vkey };
  }

  /** Forgets the pin of an agent, by id or handle, so that its next use pins the key that the server names then. */
  async unpin(idOrHandle: string): Promise<Pin> {
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
export function handleOf(written: string): string {
  return written.replace(/^@/, "").toLowerCase();
}

/** The fingerprint of a public key in base64, which people compare; the key itself if the runtime has no SHA-256. */
export async function fingerprint(key: string): Promise<string> {
  if (!globalThis.crypto?.subtle) {
    return key;
  }
  return `SHA256:${encode(await sha256(decode(key))).replace(/=+$/, "")}`;
}
