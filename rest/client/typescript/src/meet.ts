import { TrustError } from "./bind.js";
import { decode, encode, equal } from "./bytes.js";
import { type AcceptedEpoch, type EndedEpoch, followEpoch, NotFollowing } from "./epoch.js";
import {
  agentEntry, checkConsistent, checkIncluded, entriesTile, hostOf, keyEntry, kindOfLog, kindOfWitness, LogError, type LogKey, logVkey,
  openCheckpoint, parseEntries, parseHashes, parseProof, parseVkey, type WitnessedHead,
} from "./keylog.js";
import type { Optional } from "./records.js";
import { pause } from "./retry.js";
import type { KeptHead, KeptLog, Named, Trust } from "./trust.js";

/** How an agent checks a server's key log. */
export type LogChecks = Optional<{
  /** The vkey of the log; unless given, the first vkey that the server names is trusted from then on. */
  logKey?: string;
  /** The vkeys of witnesses, and the number of witnesses that must have signed a head before a key is trusted. */
  witnesses?: string[];
  quorum?: number;
  /** Pins keys that the log does not prove, on first use. */
  allowUnproven?: boolean;
  /** The seconds to wait for a new agent's entry. */
  patience?: number;
}>;

/** The server's answer to a request that needs no token. */
export interface PublicAnswer {
  status: number;
  body: Uint8Array;
}

interface Card {
  id: string;
  handle: string;
  encryption_public_key: string | null;
  created_at: string;
  key_log?: { index: number | null; salt: string | null } | null;
}

interface Published {
  origin: string;
  vkeys: string[];
  epochs: EndedEpoch[];
}

// The log as the server publishes it now, and its trusted key.
interface View extends Published {
  kept: KeptLog;
  host: string;
  path: string;
  vkey: string;
  key: LogKey;
  witnesses: LogKey[];
}

const keysPath = "/.well-known/stoa-keys.json";
const maxSteps = 50;

// A proof does not exist yet.
class Later extends Error {}

const unproven = (why: string) => new TrustError("key_unproven", why);
const text = (body: Uint8Array) => new TextDecoder().decode(body);

/** Pins an agent's key after the server's key log has proven it. */
export class KeyLog {
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly trust: Trust, readonly read: (path: string) => Promise<PublicAnswer>, readonly checks: LogChecks = {}) {
    if ((checks.quorum ?? 0) > (checks.witnesses?.length ?? 0)) {
      throw new RangeError(`the quorum is ${checks.quorum}, but ${checks.witnesses?.length ?? 0} witnesses are named`);
    }
  }

  /**
   * Compares an agent with its pin, and pins it if it has none: then its key must be in the log, unless the server never had a
   * log. Throws a TrustError if the agent is not to be trusted. A pinned agent costs no request.
   */
  async meet(agent: Named): Promise<void> {
    const known = await this.trust.knows(agent);
    if (known !== "unknown") {
      return known === "without_handle" ? this.trust.check(agent) : undefined;
    }
    return this.#inTurn(async () => {
      if ((await this.trust.knows(agent)) !== "unknown") {
        return this.trust.check(agent); // it was met meanwhile
      }
      try {
        const proven = await this.#prove(agent);
        return proven ? this.trust.pin(proven.agent, "log", proven.index) : this.trust.check(agent);
      } catch (error) {
        if (error instanceof TrustError && error.code === "key_unproven" && this.checks.allowUnproven) {
          return this.trust.check(agent);
        }
        throw error;
      }
    });
  }

  /**
   * Follows a new epoch of the log from now on; pins stay. The new log must begin with an entry that names the end of the former
   * log, and continue with the former entries. The former key signs it. If that key was lost, vkey is the new key, which the
   * operator has published elsewhere; vkey also replaces a key that was changed too long ago to be followed. Throws a TrustError
   * "log_forked" if the new log does not follow.
   */
  async acceptEpoch(vkey?: string): Promise<AcceptedEpoch> {
    return this.#inTurn(() => this.#acceptEpoch(vkey));
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #acceptEpoch(given?: string): Promise<AcceptedEpoch> {
    const kept = await this.trust.log();
    const { newest } = kept;
    if (!newest) {
      throw new Error("no key log was seen before: there is nothing to accept");
    }
    const answer = await this.#get(keysPath);
    const said = answer ? text(answer) : "";
    const log = answer ? (JSON.parse(said) as { log?: Published | null }).log : undefined;
    if (!log) {
      throw await this.#forked(newest, said, "the server has no key log");
    }
    const again = log.origin === newest.origin;
    if (again && given === undefined) {
      throw new Error(`${log.origin} is the log that was seen before: there is nothing to accept`);
    }
    const refused = again ? undefined : await this.#otherOrigin(newest, log, said);
    if (refused && refused.code !== "log_epoch") {
      throw refused;
    }
    const vkey = given ?? await logVkey(log.origin, (await parseVkey(kept.vkey, kindOfLog)).publicKey);
    const view = await this.#believe(log, kept, vkey);
    const head = await this.#checkpoint(view);
    const accepted = { origin: log.origin, formerOrigin: newest.origin, vkey, reason: "", kept: newest.size, left: newest.size };
    if (again) {
      const grown = await this.#advance(view, head);
      await this.trust.keep({ ...headOf(grown, vkey), accepted: "rotation" }, kept);
      return { ...accepted, size: grown.size };
    }
    const ended = log.epochs.at(-1);
    if (!ended) {
      throw await this.#forked(newest, head.note, "the server does not say how the former log ended");
    }
    try {
      accepted.left = await followEpoch(head, ended, kept, this.#entries(view, head.size));
    } catch (error) {
      throw error instanceof NotFollowing ? await this.#forked(newest, head.note, error.message) : error;
    }
    await this.trust.keep({ ...headOf(head, vkey), accepted: "epoch" }, kept);
    return { ...accepted, reason: ended.reason, size: head.size };
  }

  // The entries of a head, in their order.
  async *#entries(view: View, size: number): AsyncGenerator<Uint8Array> {
    for (let n = 0; n * 256 < size; n++) {
      const { path, width } = entriesTile(n, size);
      const tile = await this.#get(view.path + path);
      const entries = tile ? await this.#sound(async () => parseEntries(tile)) : [];
      if (entries.length !== width) {
        throw new Error(`the server does not show ${path} of its key log`);
      }
      yield* entries;
    }
  }

  // Returns undefined if the server has no log and never had one.
  async #prove(agent: Named): Promise<{ agent: Named; index: number } | undefined> {
    const view = await this.#view();
    if (!view) {
      return undefined;
    }
    return this.#patiently(view, () => this.#proveCard(view, agent));
  }

  // Repeats act until the proof exists; throws key_unproven when the patience has ended.
  async #patiently<T>(view: View, act: () => Promise<T>): Promise<T> {
    const end = Date.now() + 1000 * (this.checks.patience ?? 10);
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof Later)) {
          throw error;
        }
        if (Date.now() >= end) {
          throw unproven(error.message);
        }
        await pause(Math.min(0.5, this.checks.patience ?? 0.5));
        view.kept = await this.trust.log();
      }
    }
  }

  async #proveCard(view: View, agent: Named, path = encodeURIComponent(agent.id)): Promise<{ agent: Named; index: number }> {
    const name = agent.handle ? `@${agent.handle}` : agent.id;
    const answer = await this.#get(`/api/v1/bots/${path}`);
    if (!answer) {
      throw unproven(`the server shows no profile of ${name}, which is closed, suspended or gone, and so no proof of its key. Ask the ` +
        "agent for its fingerprint over another channel");
    }
    const { bot: card } = JSON.parse(text(answer)) as { bot: Card };
    const key = agent.encryption_public_key!;
    const other = card.id.toLowerCase() !== agent.id.toLowerCase() || (agent.handle && card.handle !== agent.handle);
    if (other || card.encryption_public_key !== key) {
      throw unproven(`the server names two keys, ids or handles for ${name} at once`);
    }
    const { index, salt } = card.key_log ?? { index: null, salt: null };
    if (index === null || salt === null) {
      throw new Later(`the key of ${name} is not in the key log`);
    }
    if (!Number.isSafeInteger(index) || index < 0) {
      throw unproven(`the server names no entry for ${name}`);
    }
    const entry = await this.#sound(async () => agentEntry(view.host, decode(salt), { ...card, key }));
    const { newest, by } = await this.#include(view, index, entry);
    const quorum = this.checks.quorum ?? 0;
    if (by < quorum) {
      throw new Later(`${by} known witnesses have signed the head of the key log, and the quorum is ${quorum}`);
    }
    await this.trust.keep(headOf(newest, view.vkey), view.kept);
    return { agent: { ...agent, handle: card.handle }, index };
  }

  /** The key of the log for checks of receipts: the kept or the given key. If there is neither, the log has to prove the agent's
   * own key; undefined if it does not, or if there is no log. */
  async trustedKey(own?: Named): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const view = await this.#view();
      if (!view || view.kept.newest || this.checks.logKey !== undefined) {
        return view?.vkey;
      }
      return own && this.#patiently(view, () => this.#proveCard(view, own, "me")).then(() => view.vkey);
    });
  }

  // Reads the log; undefined if the server has none and never had one.
  async #view(): Promise<View | undefined> {
    const kept = await this.trust.log();
    const answer = await this.#get(keysPath);
    const said = answer ? text(answer) : "";
    const log = answer ? (JSON.parse(said) as { log?: Published | null }).log : undefined;
    if (!log) {
      if (kept.newest) {
        throw await this.#forked(kept.newest, said, "the server had a key log, and now says that it has none");
      }
      if (this.checks.logKey !== undefined || (this.checks.quorum ?? 0) > 0) {
        throw unproven("the server has no key log");
      }
      return undefined;
    }
    if (kept.newest && kept.newest.origin !== log.origin) {
      throw await this.#otherOrigin(kept.newest, log, said);
    }
    const view = await this.#believe(log, kept, kept.newest ? kept.vkey : undefined);
    if (kept.newest) {
      const next = await this.#given(view, kept.newest) ?? log.vkeys[0] ?? view.vkey;
      if (next !== view.vkey) {
        await this.#rotate(view, next);
      }
    }
    return view;
  }

  // Returns the log with its trusted key: the known key, or the first key of an unknown log.
  async #believe(log: Published, kept: KeptLog, known: string | undefined): Promise<View> {
    const { host, epoch } = await this.#sound(async () => hostOf(log.origin));
    const vkey = known ?? await this.#firstKey(log, host);
    const key = await this.#sound(() => parseVkey(vkey, kindOfLog));
    if (key.name !== log.origin) {
      throw unproven(`the vkey ${vkey} is not of the log ${log.origin}`);
    }
    const witnesses = await Promise.all((this.checks.witnesses ?? []).map((witness) => parseVkey(witness, kindOfWitness)));
    return { ...log, kept, host, path: `/log/${epoch}/`, vkey, key, witnesses };
  }

  async #firstKey(log: Published, host: string): Promise<string> {
    if (this.checks.logKey === undefined) {
      return log.vkeys[0] ?? "";
    }
    const given = await parseVkey(this.checks.logKey, kindOfLog);
    if (hostOf(given.name).host !== host) {
      throw unproven(`the server's log is ${log.origin}, and the key that you gave is of ${given.name}`);
    }
    return logVkey(log.origin, given.publicKey); // a later epoch has the same key
  }

  // Returns the given key if it differs from the kept one, which the operator may have replaced.
  async #given({ kept, key, origin, vkeys }: View, newest: KeptHead): Promise<string | undefined> {
    const { logKey } = this.checks;
    const given = logKey === undefined || kept.rotated ? key.publicKey : (await parseVkey(logKey, kindOfLog)).publicKey;
    if (equal(given, key.publicKey)) {
      return undefined;
    }
    const vkey = await logVkey(origin, given);
    if (!vkeys.includes(vkey)) {
      throw await this.#forked(newest, logKey!, "the key of the log that was kept is another than the one that you gave");
    }
    return vkey;
  }

  // Trusts a new key of the log if a head that the old key has signed contains an entry that announces the new key.
  async #rotate(view: View, vkey: string): Promise<void> {
    const newest = view.kept.newest!;
    const key = await parseVkey(vkey, kindOfLog).catch(() => undefined);
    const entry = key?.name === view.origin ? await keyEntry("log", key.publicKey) : undefined;
    let at: number | undefined;
    const found = entry && await this.#patiently(view, async () => {
      at = await this.#find(view, entry);
      if (at === undefined) {
        throw new Later("no entry announces the new key of the log");
      }
      return (await this.#include(view, at, entry)).newest;
    }).catch((error: unknown) => {
      if (at === undefined && error instanceof TrustError && error.code === "key_unproven") {
        return undefined;
      }
      throw error;
    });
    if (!key || !found) {
      throw await this.#forked(newest, vkey, "the server names another key of its log, which no entry announces");
    }
    await this.trust.keep({ ...headOf(found, vkey), accepted: "rotation" }, view.kept);
    Object.assign(view, { vkey, key, kept: await this.trust.log() });
  }

  // The index of an entry, undefined if the log does not have it; the last tile is read first.
  async #find(view: View, entry: Uint8Array): Promise<number | undefined> {
    const { size } = await this.#checkpoint(view);
    for (let n = Math.ceil(size / 256) - 1; n >= 0; n--) {
      const { path } = entriesTile(n, size);
      const tile = await this.#get(view.path + path);
      const at = tile ? (await this.#sound(async () => parseEntries(tile))).findLastIndex((found) => equal(found, entry)) : -1;
      if (at >= 0) {
        return n * 256 + at;
      }
    }
    return undefined;
  }

  // Checks that an entry has that index, in a tree that continues the kept heads. by is the largest number of known witnesses
  // that have signed a head with the entry.
  async #include(view: View, index: number, entry: Uint8Array): Promise<{ newest: WitnessedHead; by: number }> {
    const answer = await this.#get(`${view.path}proof/${index}`);
    if (!answer) {
      throw new Later(`the key log has no entry ${index}`);
    }
    const proof = await this.#sound(async () => parseProof(text(answer)));
    const head = await this.#open(view, proof.checkpoint);
    await this.#sound(async () => {
      if (proof.index !== index) {
        throw new LogError("not_included", "the proof is of another entry");
      }
      await checkIncluded(head, index, entry, proof.hashes);
    });
    const newest = await this.#advance(view, head);
    return { newest, by: Math.max(head.by.size, newest.by.size) };
  }

  // Returns a head that continues all kept heads and the found one.
  async #advance(view: View, found: WitnessedHead): Promise<WitnessedHead> {
    let newest = found;
    const pending: { head: WitnessedHead; kept: KeptHead }[] = view.kept.open.map((kept) => ({ head: witnessed(kept), kept }));
    for (let step = 0; pending.length > 0; step++) {
      const { head: older, kept } = pending.shift()!;
      if (same(older, newest)) {
        continue;
      }
      if (step === maxSteps) {
        throw new Error("the key log grows faster than its proofs can be read");
      }
      const next = await this.#continued(view, older, kept);
      if (same(next, newest)) {
        continue;
      }
      const smaller = next.size < newest.size ? next : newest;
      newest = smaller === next ? newest : next;
      pending.push({ head: smaller, kept: headOf(smaller, view.vkey) });
    }
    return newest;
  }

  async #continued(view: View, older: WitnessedHead, kept: KeptHead): Promise<WitnessedHead> {
    if (older.size === 0) {
      return this.#checkpoint(view);
    }
    const answer = await this.#get(`${view.path}consistency?old=${older.size}`);
    if (!answer) { // the head is smaller, or denied
      const head = await this.#checkpoint(view);
      throw await this.#forked(kept, head.note, `the log had ${older.size} entries, and now says ${head.size}`);
    }
    const proof = JSON.parse(text(answer)) as { hashes: string[]; checkpoint: string };
    const head = await this.#open(view, proof.checkpoint);
    try {
      await checkConsistent(older, head, parseHashes(proof.hashes));
    } catch {
      throw await this.#forked(kept, head.note, `its head of ${head.size} entries does not continue the head of ${older.size}`);
    }
    return head;
  }

  async #checkpoint(view: View): Promise<WitnessedHead> {
    const answer = await this.#get(`${view.path}checkpoint`);
    return this.#open(view, answer ? text(answer) : "");
  }

  async #open(view: View, signed: string): Promise<WitnessedHead> {
    try {
      return await openCheckpoint(signed, view.key, view.witnesses);
    } catch (error) {
      const why = (error as Error).message;
      throw view.kept.newest ? await this.#forked(view.kept.newest, signed, why) : unproven(why);
    }
  }

  async #otherOrigin(newest: KeptHead, log: Published, said: string): Promise<TrustError> {
    try {
      const [was, is] = [hostOf(newest.origin), hostOf(log.origin)];
      if (was.host === is.host && is.epoch > was.epoch) {
        const ended = log.epochs.find(({ origin }) => origin === newest.origin);
        const how = ended ? `, which ended with ${ended.size} entries (${ended.reason}); ${newest.size} were seen` : "";
        return new TrustError("log_epoch", `${log.origin} has followed ${newest.origin}${how}. Keys that are pinned stay so. Ask the ` +
          "operator why, and then: acceptEpoch(), or stoa agent accept-epoch");
      }
    } catch {
      // another host, or no origin: below
    }
    return this.#forked(newest, said, `the log is now called "${log.origin}" instead of "${newest.origin}"`);
  }

  async #forked(kept: KeptHead, served: string, why: string): Promise<TrustError> {
    const evidence = { kept: kept.checkpoint, served };
    const where = await this.trust.store.evidence?.(evidence).then(
      (place) => place ? `; both are kept in ${place}.kept and .served` : "; evidence from before is kept",
      (error: Error) => `; they could not be kept: ${error.message}`) ?? "";
    return new TrustError("log_forked", `${why}${where}. The server, or someone before it, shows different logs to different agents; ` +
      "no further agent's key is believed. Show both to others who use this server", evidence);
  }

  // A malformed answer proves nothing.
  async #sound<T>(of: () => Promise<T>): Promise<T> {
    try {
      return await of();
    } catch (error) {
      throw error instanceof LogError || error instanceof RangeError ? unproven(error.message) : error;
    }
  }

  // The body of an answer; undefined if the path does not exist.
  async #get(path: string): Promise<Uint8Array | undefined> {
    const { status, body } = await this.read(path);
    if (status === 200) {
      return body;
    }
    if (status === 404) {
      return undefined;
    }
    throw new Error(`${path} answered ${status}`);
  }
}

function headOf(head: WitnessedHead, vkey: string): KeptHead {
  return { origin: head.origin, vkey, size: head.size, root: encode(head.root), checkpoint: head.note, over: 0 };
}

function witnessed(kept: KeptHead): WitnessedHead {
  return { origin: kept.origin, size: kept.size, root: decode(kept.root), note: kept.checkpoint, by: new Map() };
}

function same(a: WitnessedHead, b: WitnessedHead): boolean {
  return a.size === b.size && equal(a.root, b.root);
}
