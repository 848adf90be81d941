// The record of opened messages: no server can show one message as two.
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { boundNonce } from "../src/bind.js";
import type { components } from "../src/description.js";
import {
  FileNonceStore, IndexedDBNonceStore, KeyPair, MemoryNonceStore, MemoryTrustStore, Nonces, type NonceStore, Stoa, type StoaEvent, TrustError,
} from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

type Message = components["schemas"]["Message"];
const replayed = { name: "TrustError", code: "replayed" };
const day = 24 * 3600 * 1000;

const arrives = (message: Message): StoaEvent => ({
  event_id: crypto.randomUUID(), kind: "message.created", payload: { ...message, message, message_id: message.id },
});

const stores: [string, () => Promise<() => NonceStore>][] = [
  ["memory", async () => {
    const store = new MemoryNonceStore();
    return () => store;
  }],
  ["a folder", async () => {
    const folder = join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key.nonces");
    return () => new FileNonceStore(folder);
  }],
  ["IndexedDB", async () => {
    const name = crypto.randomUUID();
    return () => new IndexedDBNonceStore(name);
  }],
];
for (const [name, make] of stores) {
  test(`the first opening holds in ${name}, for every program that uses it`, async () => {
    const open = await make();
    const key = KeyPair.generate().publicKey;
    const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))));
    const ids = Array.from({ length: 8 }, () => crypto.randomUUID());
    const shared = new Nonces(open());
    const tried = await Promise.allSettled([
      ...ids.map((id) => new Nonces(open()).claim(key, nonce, id, undefined)), ...ids.map((id) => shared.claim(key, nonce, id, undefined)),
    ]);
    const won = tried.flatMap(({ status }, i) => (status === "fulfilled" ? [ids[i % ids.length]!] : []));
    assert.deepEqual(won, [won[0], won[0]]);
    tried.forEach((one) => assert.ok(one.status === "fulfilled" || (one.reason as TrustError).code === "replayed"));
    const [event, other] = [crypto.randomUUID(), crypto.randomUUID()];
    await new Nonces(open()).claim(key, nonce, won[0]!.toUpperCase(), event);
    await new Nonces(open()).claim(key, nonce, won[0]!, event);
    await assert.rejects(new Nonces(open()).claim(key, nonce, won[0]!, other), replayed);
    await new Nonces(open()).claim(KeyPair.generate().publicKey, nonce, crypto.randomUUID(), other);
    await assert.rejects(new Nonces(open()).claim(key, nonce, "x", undefined), { code: "altered" });
  });
}

test("a folder of nonces is private, survives a cut line, and is emptied after 92 days", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key.nonces");
  const [key, nonce, id] = [KeyPair.generate().publicKey, btoa("\0".repeat(24)), crypto.randomUUID()];
  await new Nonces(new FileNonceStore(folder)).claim(key, nonce, id, undefined);
  const [month] = await readdir(folder);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.equal((await stat(join(folder, month!))).mode & 0o777, 0o600);
  await appendFile(join(folder, month!), "cut 0192");
  const nonces = new Nonces(new FileNonceStore(folder));
  await nonces.claim(key, nonce, id, crypto.randomUUID());
  const named = (age: number) => new Date(Date.now() - age * day).toISOString().slice(0, 7);
  await writeFile(join(folder, named(92)), "");
  await writeFile(join(folder, named(124)), "");
  const future = new Date(Date.now() + 400 * day);
  await nonces.claim(key, btoa("\x01".repeat(24)), id, undefined, future); // a message dated in the future is remembered longer
  assert.deepEqual((await readdir(folder)).sort(), [named(92), month, future.toISOString().slice(0, 7)].sort());
  await assert.rejects(nonces.claim(key, nonce, id, crypto.randomUUID()), replayed);
});

test("a message may be opened often, but never as two messages, not even by stoa agent", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key");
  const handle = `keyed_${crypto.randomUUID().slice(0, 8)}`;
  const stoa = await Stoa.create(file, { origin: server.origin }, { handle, display_name: "Keyed" });
  const bob = await server.register("bob");
  await server.befriend(stoa, bob.stoa, bob.bot.id);
  const sent = await bob.stoa.send(await bob.stoa.find(handle), "hello");
  const event = arrives(sent);
  for (const program of [stoa, await Stoa.open(file)]) {
    for (let i = 0; i < 2; i++) {
      const opened = (await program.text(event))!;
      assert.ok(opened.bound);
      assert.ok(Math.abs(opened.sealedAt!.getTime() - Date.now()) < 600_000);
      assert.equal((await program.open(sent, bob.bot.id)).text, "hello");
    }
    await assert.rejects(program.text(arrives(sent)), replayed);
    await assert.rejects(program.open({ ...sent, id: crypto.randomUUID() }), replayed);
  }
  const read = () => JSON.parse(String(execFileSync(process.env.STOA_BINARY!, [
    "agent", "--key", file, "--json", "read", bob.bot.handle,
  ]))) as { text: string; refused?: string }[];
  assert.deepEqual(read().map(({ text, refused }) => [text, refused]), [["hello", undefined]]);

  // A message that stoa agent has opened is known here.
  const second = await bob.stoa.send(await bob.stoa.find(handle), "again");
  assert.equal(read()[0]!.text, "again");
  await assert.rejects(stoa.open({ ...second, id: crypto.randomUUID() }), replayed);
});

test("an old message is stale, and an unbound one is refused if the agent asks for it", async () => {
  const { alice, bob } = await server.friends();
  const keys = bob.stoa.keys!;
  const sealed = (at?: Date): Message => {
    const id = crypto.randomUUID();
    const bindable = {
      sender_id: bob.bot.id, recipient_id: alice.bot.id, client_message_id: id, sender_public_key: keys.publicKey,
      recipient_public_key: alice.bot.encryption_public_key!,
    };
    const fresh = crypto.getRandomValues(new Uint8Array(8));
    new DataView(fresh.buffer).setUint32(0, (at?.getTime() ?? 0) / 1000);
    const nonce = at ? boundNonce(bindable, fresh) : undefined;
    const envelope = keys.seal("hello", alice.bot.id, bindable.recipient_public_key, id, nonce);
    return {
      ...envelope, id: crypto.randomUUID(), contact_id: crypto.randomUUID(), sender_id: bob.bot.id, size_bytes: 1,
      created_at: new Date().toISOString(), expires_at: new Date().toISOString(),
    };
  };
  await assert.rejects(alice.stoa.open(sealed(new Date(Date.now() - 91 * day - 3600_000))), { code: "stale" });
  assert.ok((await alice.stoa.open(sealed(new Date(Date.now() - 91 * day + 3600_000)))).bound);
  const unbound = sealed();
  assert.deepEqual(await alice.stoa.open(unbound), { text: "hello", bound: false });
  await assert.rejects(alice.stoa.open({ ...unbound, id: crypto.randomUUID() }), replayed);
  const strict = new Stoa({
    origin: server.origin, token: alice.token, keys: alice.stoa.keys!, id: alice.bot.id, trust: new MemoryTrustStore(), requireBound: true,
  });
  await assert.rejects(strict.open(sealed()), { code: "unbound" });
  assert.ok((await strict.open(sealed(new Date()))).bound);
});
