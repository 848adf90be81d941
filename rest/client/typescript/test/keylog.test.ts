// A key log that proves keys, and one that lies: the vectors of every client, and a small log whose key the test holds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import nacl from "tweetnacl";
import { FileTrustStore, KeyLog, KeyPair, type LogChecks, MemoryTrustStore, Trust, type TrustError } from "../src/index.js";
import { decode, encode, sha256 } from "../src/bytes.js";
import {
  agentEntry, checkConsistent, checkIncluded, entriesTile, epochEntry, keyEntry, kindOfLog, kindOfWitness, logVkey, openCheckpoint,
  parseEntries, parseHashes, parseHead, parseProof, parseVkey,
} from "../src/keylog.js";
import { testWait } from "./server.js";

interface Vectors {
  host: string;
  vkey: string;
  witness_vkey: string;
  agents: { id: string; handle: string; key: string; created_at: string; salt: string; entry: string }[];
  checkpoints: { name: string; signed: string; sound: boolean; size: number; by: Record<string, number> }[];
  proofs: { name: string; proof: string; entry: string; sound: boolean }[];
  consistency: { name: string; older: string; newer: string; hashes: string[]; sound: boolean }[];
  tile: { path: string; n: number; size: number; tile: string; entries: string[] };
}

const vectors = JSON.parse(readFileSync(new URL("../../../testdata/keylog.json", import.meta.url), "utf8")) as Vectors;

const isSound = async (of: () => Promise<unknown>) => of().then(() => true, () => false);

test("the vectors of the key log", async () => {
  for (const agent of vectors.agents) {
    assert.equal(encode(await agentEntry(vectors.host, decode(agent.salt), agent)), agent.entry);
  }
  const key = await parseVkey(vectors.vkey, kindOfLog);
  assert.equal(await logVkey(key.name, key.publicKey), vectors.vkey);
  const witness = await parseVkey(vectors.witness_vkey, kindOfWitness);
  for (const { name, signed, sound, size, by } of vectors.checkpoints) {
    assert.equal(await isSound(() => openCheckpoint(signed, key, [witness])), sound, name);
    if (sound) {
      const head = await openCheckpoint(signed, key, [witness]);
      assert.deepEqual([head.size, Object.fromEntries(head.by)], [size, by], name);
    }
  }
  for (const { name, proof, entry, sound } of vectors.proofs) {
    const check = async (text: string) => {
      const parsed = parseProof(text);
      await checkIncluded(await openCheckpoint(parsed.checkpoint, key), parsed.index, decode(entry), parsed.hashes);
    };
    assert.equal(await isSound(() => check(proof)), sound, name);
  }
  for (const { name, older, newer, hashes, sound } of vectors.consistency) {
    assert.equal(await isSound(() => checkConsistent(parseHead(older), parseHead(newer), parseHashes(hashes))), sound, name);
  }
  const { path, n, size, tile, entries } = vectors.tile;
  assert.equal(entriesTile(n, size).path, path);
  assert.deepEqual(parseEntries(decode(tile)).map(encode), entries);
  assert.ok(vectors.checkpoints.length >= 12 && vectors.proofs.length >= 18 && vectors.consistency.length >= 22);
  for (const wrong of ["", "a", vectors.witness_vkey, `x${vectors.vkey}`, `${vectors.vkey}A`]) {
    assert.equal(await isSound(() => parseVkey(wrong, kindOfLog)), false, wrong);
  }
});

test("every byte of a proof counts", async () => {
  const key = await parseVkey(vectors.vkey, kindOfLog);
  const { proof, entry } = vectors.proofs[5]!;
  for (let i = 0; i < proof.length; i++) {
    const flipped = proof.slice(0, i) + String.fromCharCode(proof.charCodeAt(i) ^ 1) + proof.slice(i + 1);
    const sound = await isSound(async () => {
      const parsed = parseProof(flipped);
      await checkIncluded(await openCheckpoint(parsed.checkpoint, key), parsed.index, decode(entry), parsed.hashes);
    });
    assert.ok(!sound, `byte ${i}`);
  }
});

const host = "stoa.example";
const seedOf = (name: string) => nacl.hash(new TextEncoder().encode(name)).subarray(0, 32);
type Signing = { name: string; pair: nacl.SignKeyPair };
const signing = (name: string, seed = name): Signing => ({ name, pair: nacl.sign.keyPair.fromSeed(seedOf(seed)) });

// The definitions of RFC 6962.
const split = (n: number) => 2 ** Math.floor(Math.log2(n - 1));
async function root(entries: Uint8Array[]): Promise<Uint8Array> {
  if (entries.length < 2) {
    return entries[0] ? sha256(Uint8Array.of(0), entries[0]) : sha256();
  }
  const k = split(entries.length);
  return sha256(Uint8Array.of(1), await root(entries.slice(0, k)), await root(entries.slice(k)));
}
async function path(m: number, entries: Uint8Array[]): Promise<Uint8Array[]> {
  if (entries.length < 2) {
    return [];
  }
  const k = split(entries.length);
  return m < k
    ? [...(await path(m, entries.slice(0, k))), await root(entries.slice(k))]
    : [...(await path(m - k, entries.slice(k))), await root(entries.slice(0, k))];
}
async function between(m: number, entries: Uint8Array[], whole = true): Promise<Uint8Array[]> {
  if (m === entries.length) {
    return whole ? [] : [await root(entries)];
  }
  const k = split(entries.length);
  return m <= k
    ? [...(await between(m, entries.slice(0, k), whole)), await root(entries.slice(k))]
    : [...(await between(m - k, entries.slice(k), false)), await root(entries.slice(0, k))];
}

interface Agent {
  id: string;
  handle: string;
  encryption_public_key: string;
  created_at: string;
  key_log: { index: number | null; salt: string | null };
}

/** A server with a log, as far as a client needs it. The test has its key, so the server may lie. */
class LoggedServer {
  entries: Uint8Array[] = [];
  agents: Agent[] = [];
  signers: Signing[];
  witnesses: Signing[] = [];
  /** The size of the head that proves the entries, and its witnesses. */
  cosigned: { size: number; witnesses: Signing[] } = { size: 0, witnesses: [] };
  vkeys?: string[];
  epochs: { origin: string; size: number; root: string; reason: string }[] = [];
  closed = false;
  without = false;
  asked = 0;

  constructor(public origin = `${host}/log/1`, signer = "log") {
    this.signers = [signing(origin, signer)];
  }

  async register(handle: string, logged = true): Promise<Agent> {
    const key = KeyPair.generate().publicKey;
    const agent: Agent = {
      id: crypto.randomUUID(), handle, encryption_public_key: key, created_at: "2026-01-01T00:00:00Z", key_log: { index: null, salt: null },
    };
    this.agents.push(agent);
    if (logged) {
      await this.sequence(agent);
    }
    return agent;
  }

  async sequence(agent: Agent): Promise<void> {
    const salt = nacl.randomBytes(16);
    agent.key_log = { index: this.entries.length, salt: encode(salt) };
    this.entries = [...this.entries, await agentEntry(host, salt, { ...agent, key: agent.encryption_public_key })];
  }

  async checkpoint(entries = this.entries, witnesses = this.witnesses): Promise<string> {
    const text = `${this.origin}\n${entries.length}\n${encode(await root(entries))}\n`;
    const bytes = (said: string) => new TextEncoder().encode(said);
    const line = async ({ name, pair }: Signing, kind: number, time?: number) => {
      const stamp = new Uint8Array(time === undefined ? 0 : 8);
      if (time !== undefined) {
        new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
      }
      const id = (await sha256(bytes(`${name}\n`), Uint8Array.of(kind), pair.publicKey)).subarray(0, 4);
      const signature = nacl.sign.detached(bytes(time === undefined ? text : `cosignature/v1\ntime ${time}\n${text}`), pair.secretKey);
      return `— ${name} ${encode(Uint8Array.from([...id, ...stamp, ...signature]))}\n`;
    };
    const lines = [
      ...(await Promise.all(this.signers.map((signer) => line(signer, kindOfLog)))),
      ...(await Promise.all(witnesses.map((witness) => line(witness, kindOfWitness, 1_790_000_000)))),
    ];
    return `${text}\n${lines.join("")}`;
  }

  read = async (path_: string): Promise<{ status: number; body: Uint8Array }> => {
    this.asked++;
    const answer = await this.answer(path_);
    const body = answer instanceof Uint8Array ? answer : new TextEncoder().encode(answer ?? "");
    return { status: answer === undefined ? 404 : 200, body };
  };

  async answer(asked: string): Promise<string | Uint8Array | undefined> {
    if (asked === "/.well-known/stoa-keys.json") {
      const vkeys = this.vkeys ?? (await Promise.all(this.signers.map(({ name, pair }) => logVkey(name, pair.publicKey))));
      return JSON.stringify({ keys: [], log: this.without ? null : { origin: this.origin, vkeys, witnesses: [], epochs: this.epochs } });
    }
    const bot = this.agents.find(({ id }) => asked === `/api/v1/bots/${id}`);
    if (bot) {
      return this.closed ? undefined : JSON.stringify({ bot });
    }
    const [, rest] = /^\/log\/[0-9]+\/(.*)$/.exec(asked) ?? [];
    const [, index] = /^proof\/([0-9]+)$/.exec(rest ?? "") ?? [];
    const [, old] = /^consistency\?old=([0-9]+)$/.exec(rest ?? "") ?? [];
    const size = this.entries.length;
    if (rest === "checkpoint") {
      return this.checkpoint();
    }
    if (index !== undefined && Number(index) < size) {
      const cosigned = Number(index) < this.cosigned.size ? this.cosigned : undefined;
      const entries = this.entries.slice(0, cosigned?.size ?? size);
      const hashes = await path(Number(index), entries);
      return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.map((hash) => `${encode(hash)}\n`).join("")}\n` +
        await this.checkpoint(entries, cosigned?.witnesses);
    }
    if (old !== undefined && Number(old) <= size) {
      const hashes = Number(old) === 0 ? [] : await between(Number(old), this.entries);
      return JSON.stringify({ old_size: Number(old), size, hashes: hashes.map(encode), checkpoint: await this.checkpoint() });
    }
    for (let n = 0; n * 256 < size; n++) {
      if (rest === entriesTile(n, size).path) {
        return Uint8Array.from(this.entries.slice(n * 256, (n + 1) * 256).flatMap((entry) => [0, 65, ...entry]));
      }
    }
    return undefined;
  }

  /** A new epoch of the log, with the first entries of this one. */
  async anew(left = this.entries.length, epoch = 2): Promise<LoggedServer> {
    const next = new LoggedServer(`${host}/log/${epoch}`);
    const before = this.entries.slice(0, left);
    next.epochs = [...this.epochs, { origin: this.origin, size: left, root: encode(await root(before)), reason: "restored" }];
    next.entries = [await epochEntry(this.origin, await root(before)), ...before];
    next.agents = [...this.agents];
    return next;
  }

  client(checks: LogChecks = {}, store: ConstructorParameters<typeof Trust>[0] = new MemoryTrustStore()): KeyLog {
    return new KeyLog(new Trust(store), this.read, { patience: 0, ...checks });
  }
}

const refused = (code: string) => (error: TrustError) => error.name === "TrustError" && error.code === code;

test("a key is pinned once the log proves it", async () => {
  const server = new LoggedServer();
  const log = server.client();
  for (const name of ["ada", "ben", "cleo", "dan", "eve"]) {
    const agent = await server.register(name);
    await log.meet(agent);
    const pin = (await log.trust.pins()).get(agent.id);
    assert.deepEqual([pin?.via, pin?.index, pin?.handle], ["log", agent.key_log.index, name]);
    assert.equal((await log.trust.log()).newest?.size, server.entries.length);
    const { asked } = server;
    await log.meet(agent);
    assert.equal(server.asked, asked, "an agent that is pinned costs no request");
  }
  const late = await server.register("late", false);
  const waiting = server.client({ patience: testWait / 1000 }, log.trust.store).meet(late);
  await server.sequence(late);
  await waiting;
  assert.equal((await log.trust.pins()).get(late.id)?.via, "log");
  await assert.rejects(log.meet({ ...late, encryption_public_key: KeyPair.generate().publicKey }), refused("key_changed"));
  const byId = await server.register("by_id");
  await log.meet({ id: byId.id, encryption_public_key: byId.encryption_public_key });
  assert.equal((await log.trust.pins()).get(byId.id)?.handle, "by_id");
});

test("a key that the log does not prove is not trusted", async () => {
  const lies: [string, (server: LoggedServer, agent: Agent) => void][] = [
    ["another key on every record", (_, agent) => { agent.encryption_public_key = KeyPair.generate().publicKey; }],
    ["another handle on every record", (_, agent) => { agent.handle = "other"; }],
    ["another salt", (_, agent) => { agent.key_log.salt = encode(nacl.randomBytes(16)); }],
    ["another index", (_, agent) => { agent.key_log.index = 0; }],
    ["an invalid salt", (_, agent) => { agent.key_log.salt = "x"; }],
    ["an invalid index", (_, agent) => { agent.key_log.index = -1; }],
    ["no entry", (_, agent) => { agent.key_log = { index: null, salt: null }; }],
    ["an entry beyond the head", (_, agent) => { agent.key_log.index = 99; }],
    ["a closed profile", (server) => { server.closed = true; }],
    ["no signature of the log", (server) => { server.vkeys = [vectors.vkey.replace("stoa.example/log/1", "x/log/1")]; }],
  ];
  for (const [name, lie] of lies) {
    const server = new LoggedServer();
    await server.register("ada");
    const agent = await server.register("ben");
    lie(server, agent);
    const log = server.client();
    await assert.rejects(log.meet(agent), refused("key_unproven"), name);
    assert.equal((await log.trust.pins()).size, 0, name);
    await server.client({ allowUnproven: true }, log.trust.store).meet(agent);
    assert.equal((await log.trust.pins()).get(agent.id)?.via, "tofu", name);
  }
  const server = new LoggedServer();
  const agent = await server.register("ada");
  const shown = { ...agent, encryption_public_key: KeyPair.generate().publicKey };
  await assert.rejects(server.client().meet(shown), refused("key_unproven"), "the card names another key than the record");
  server.without = true;
  await server.client().meet(agent); // a server that never had a log
  await assert.rejects(server.client({ logKey: vectors.vkey }).meet(agent), refused("key_unproven"));
});

test("receipts are checked by the kept or the given key of the log, even of an earlier epoch", async () => {
  const server = new LoggedServer(`${host}/log/2`);
  const { publicKey } = signing("log").pair;
  const [given, present] = [await logVkey(`${host}/log/1`, publicKey), await logVkey(server.origin, publicKey)];
  assert.equal(await server.client().trustedKey(), undefined, "the server alone names it");
  assert.equal(await server.client({ logKey: given }).trustedKey(), present);
  const log = server.client();
  await log.meet(await server.register("ada"));
  assert.equal(await log.trustedKey(), present);
  await assert.rejects(server.client({ logKey: vectors.vkey.replace(host, "other.example") }).trustedKey());
});

test("a log that shrinks, forks, vanishes or changes its name or key is a fork, with both heads as evidence", async () => {
  const lies: [string, (server: LoggedServer) => Promise<void> | void][] = [
    ["a smaller head", (server) => { server.entries = server.entries.slice(0, -2); }],
    ["a fork", async (server) => {
      server.entries = [new Uint8Array(65), ...server.entries.slice(1)];
      await server.register("new");
    }],
    ["a fork of the same size", () => undefined],
    ["no log", (server) => { server.without = true; }],
    ["another host", (server) => { server.origin = "other.example/log/2"; }],
    ["an earlier epoch", (server) => { server.origin = `${host}/log/1`; }],
    ["another key", (server) => { server.signers = [signing(server.origin, "other")]; }],
    ["a wrong signature", (server) => {
      const { checkpoint } = server;
      server.checkpoint = async () => (await checkpoint.call(server)).replace(/\n\d+\n/, "\n99\n");
    }],
  ];
  for (const [name, lie] of lies) {
    const server = new LoggedServer(`${host}/log/2`);
    const store = new FileTrustStore(join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key.trust"));
    const log = server.client({}, store);
    for (const agent of ["ada", "ben", "cleo"]) {
      await log.meet(await server.register(agent));
    }
    const kept = (await log.trust.log()).newest!.checkpoint;
    await lie(server);
    const next = server.agents.find(({ handle }) => handle === "new") ?? (await server.register("next", false));
    if (next.key_log.index === null) { // the lying log proves the new agent, in a tree that is not larger
      next.key_log = { index: 0, salt: encode(new Uint8Array(16)) };
      server.entries = [await agentEntry(host, new Uint8Array(16), { ...next, key: next.encryption_public_key }), ...server.entries.slice(1)];
    }
    const error = await log.meet(next).then(() => assert.fail(name), (failed: TrustError) => failed);
    assert.equal(error.code, "log_forked", `${name}: ${error.message}`);
    assert.equal(error.evidence?.kept, kept, name);
    const [, file] = /kept in (.*)\.kept/.exec(error.message) ?? [];
    assert.equal(await readFile(`${file}.kept`, "utf8"), kept);
    assert.equal(await readFile(`${file}.served`, "utf8"), error.evidence?.served);
    assert.equal((await log.trust.pins()).size, 3);
  }
});

test("a server cannot fill the disk with evidence", async () => {
  const server = new LoggedServer();
  const folder = await mkdtemp(join(tmpdir(), "stoa-"));
  const log = server.client({}, new FileTrustStore(join(folder, "agent.key.trust")));
  await log.meet(await server.register("ada"));
  await Promise.all(Array.from({ length: 40 }, (_, n) => writeFile(join(folder, `agent.key.trust.fork.${n}`), "")));
  server.without = true;
  await assert.rejects(log.meet(await server.register("ben")), (error: TrustError) =>
    error.code === "log_forked" && error.message.includes("evidence from before is kept"));
  assert.equal((await readdir(folder)).length, 41);
});

test("a new epoch is reported, and accepted once it was read; pins stay", async () => {
  const server = new LoggedServer();
  const log = server.client();
  await assert.rejects(log.acceptEpoch(), /no key log was seen before/);
  const ada = await server.register("ada");
  for (let n = 0; n < 300; n++) {
    server.entries = [...server.entries, await keyEntry("log", nacl.randomBytes(32))];
  }
  await log.meet(await server.register("first"));
  await log.meet(ada);
  await assert.rejects(log.acceptEpoch(), /nothing to accept/);
  const next = await server.anew(301);
  const ben = await next.register("ben");
  const after = next.client({}, log.trust.store);
  await after.meet(ada);
  await assert.rejects(after.meet(ben), refused("log_epoch"));
  const accepted = await after.acceptEpoch();
  const vkey = await logVkey(next.origin, next.signers[0]!.pair.publicKey);
  assert.deepEqual(accepted, {
    origin: `${host}/log/2`, formerOrigin: `${host}/log/1`, vkey, size: 303, reason: "restored", kept: 302, left: 301,
  });
  await after.meet(ben);
  assert.equal((await log.trust.pins()).size, 3);
  await assert.rejects(after.acceptEpoch(), /nothing to accept/);

  // After two new epochs, the one between cannot be compared. Its operator has lost the log's key.
  const third = await (await next.anew(undefined, 3)).anew(undefined, 4);
  third.signers = [signing(third.origin, "another")];
  const later = third.client({}, log.trust.store);
  await assert.rejects(later.acceptEpoch(), refused("log_forked"), "the former key has not signed");
  const another = await logVkey(third.origin, third.signers[0]!.pair.publicKey);
  assert.equal((await later.acceptEpoch(another)).left, 0);
  await later.meet(await third.register("cleo"));
});

test("a new epoch that does not follow the kept log is a fork", async () => {
  const lies: [string, (next: LoggedServer) => Promise<void> | void][] = [
    ["another first entry", async (next) => { next.entries[0] = await epochEntry("x", new Uint8Array(32)); }],
    ["another entry", async (next) => { next.entries[2] = await keyEntry("log", new Uint8Array(32)); }],
    ["an entry less", (next) => { next.entries.splice(2, 1); }],
    ["no epochs", (next) => { next.epochs = []; }],
    ["another end", (next) => { next.epochs[0]!.size = 1; }],
    ["another root", (next) => { next.epochs[0]!.root = encode(new Uint8Array(32)); }],
    ["another host", (next) => { next.origin = "other.example/log/2"; }],
    ["an earlier epoch", (next) => { next.origin = `${host}/log/0`; }],
    ["no log", (next) => { next.without = true; }],
    ["another key", (next) => { next.signers = [signing(next.origin, "other")]; }],
    ["other entries than those of the head", (next) => {
      const { checkpoint } = next;
      next.checkpoint = async () => {
        const shown = next.entries;
        next.entries = [...shown.slice(0, -1), new Uint8Array(65)];
        const signed = await checkpoint.call(next);
        next.entries = shown;
        return signed;
      };
    }],
  ];
  for (const [name, lie] of lies) {
    const server = new LoggedServer();
    const log = server.client();
    for (const agent of ["ada", "ben", "cleo"]) {
      await log.meet(await server.register(agent));
    }
    const kept = (await log.trust.log()).newest!;
    const next = await server.anew();
    await lie(next);
    const after = next.client({}, log.trust.store);
    const error = await after.acceptEpoch().then(() => assert.fail(name), (failed: TrustError) => failed);
    assert.equal(error.code, "log_forked", `${name}: ${error.message}`);
    assert.equal(error.evidence?.kept, kept.checkpoint, name);
    assert.deepEqual((await log.trust.log()).newest, kept, name);
  }
});

test("a new key of the log is trusted once the old key has signed its entry", async () => {
  const server = new LoggedServer();
  const log = server.client();
  await log.meet(await server.register("ada"));
  const [old] = server.signers;
  const fresh = signing(server.origin, "fresh");
  server.signers = [fresh, old!];
  await assert.rejects(log.meet(await server.register("ben")), refused("log_forked"), "no entry announces it");
  const given = await logVkey(server.origin, fresh.pair.publicKey);
  for (const logKey of [given, await logVkey(server.origin, signing("other").pair.publicKey)]) {
    await assert.rejects(server.client({ logKey }, log.trust.store).meet(server.agents[1]!), refused("log_forked"));
  }
  const kept = await log.trust.store.read();
  const announcement = await keyEntry("log", fresh.pair.publicKey);
  const { answer } = server;
  server.answer = async (asked) => {
    const said = await answer.call(server, asked);
    if (asked.includes("/tile/") && !server.entries.includes(announcement)) { // the server may be about to append it
      server.entries = [...server.entries, announcement];
    }
    return said;
  };
  await server.client({ patience: testWait / 1000 }, log.trust.store).meet(server.agents[1]!);

  // A given key may be newer than the kept key, even if the server still names the kept key first.
  for (const vkeys of [[given, await logVkey(server.origin, old!.pair.publicKey)], [await logVkey(server.origin, old!.pair.publicKey), given]]) {
    const store = new MemoryTrustStore();
    await Promise.all(kept.map((line) => store.append(line)));
    server.vkeys = vkeys;
    const follower = server.client({ logKey: given }, store);
    await follower.meet(server.agents[1]!);
    assert.equal((await follower.trust.log()).vkey, given);
  }
  delete server.vkeys;
  server.signers = [fresh];
  await log.meet(await server.register("cleo"));
  assert.ok((await log.trust.log()).rotated);
});

async function vkeyOf({ name, pair }: Signing): Promise<string> {
  const id = (await sha256(new TextEncoder().encode(`${name}\n`), Uint8Array.of(kindOfWitness), pair.publicKey)).subarray(0, 4);
  return `${name}+${[...id].map((byte) => byte.toString(16).padStart(2, "0")).join("")}+${encode(Uint8Array.from([kindOfWitness, ...pair.publicKey]))}`;
}

test("a head that a quorum has signed proves its entries while the log grows, and the newest head continues it", async () => {
  const server = new LoggedServer();
  const agents = [await server.register("ada"), await server.register("ben"), await server.register("carol")];
  const witness = signing("w1");
  const log = server.client({ witnesses: [await vkeyOf(witness)], quorum: 1 });
  server.cosigned = { size: 2, witnesses: [witness] };
  await log.meet(agents[0]!);
  assert.equal((await log.trust.log()).newest!.size, 2);
  await log.meet(agents[1]!);
  await assert.rejects(log.meet(agents[2]!), refused("key_unproven"), "no witness has signed a head that has the entry");
  server.cosigned.size = 3;
  await server.register("dora");
  await log.meet(agents[2]!);
  assert.equal((await log.trust.log()).newest!.size, 4);
  const [eve, frank] = [await server.register("eve"), await server.register("frank")];
  server.cosigned.size = 5;
  await log.meet(eve);
  assert.equal((await log.trust.log()).newest!.size, 6);
  server.cosigned.size = 4; // an earlier head than the kept one proves as well
  await log.meet(server.agents[3]!);
  server.cosigned.size = 6;
  server.entries = [server.entries[1]!, ...server.entries.slice(1)];
  await assert.rejects(log.meet(frank), refused("log_forked"));
});

test("a quorum of known witnesses must have signed", async () => {
  const server = new LoggedServer();
  const agent = await server.register("ada");
  const [one, two, stranger] = [signing("w1"), signing("w2"), signing("w3")];
  const checks = { witnesses: [await vkeyOf(one!), await vkeyOf(two!)], quorum: 2 };
  for (const witnesses of [[], [one!], [one!, stranger!]]) {
    server.witnesses = witnesses;
    await assert.rejects(server.client(checks).meet(agent), refused("key_unproven"));
  }
  server.witnesses = [one!, two!];
  await server.client(checks).meet(agent);
  assert.throws(() => server.client({ quorum: 1 }), RangeError);
});

test("programs that share a store check that every head continues all kept heads", async () => {
  const server = new LoggedServer();
  const store = new MemoryTrustStore();
  const agents = await Promise.all(["ada", "ben", "cleo"].map((name) => server.register(name, false)));
  for (const agent of agents) {
    await server.sequence(agent);
  }
  await Promise.all(agents.map((agent) => server.client({}, store).meet(agent)));
  await server.client({}, store).meet(await server.register("dan"));
  const kept = await new Trust(store).log();
  assert.deepEqual(kept.open.map(({ size }) => size), [4]);
  const fork = new LoggedServer();
  const lie = await fork.register("eve");
  await assert.rejects(fork.client({}, store).meet(lie), refused("log_forked"));
});
