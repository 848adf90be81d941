// A server that lies: a real server's answers are changed on their way to one agent.
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import nacl from "tweetnacl";
import { decode, encode } from "../src/bytes.js";
import {
  actionOf, type Fault, FileTrustStore, IndexedDBTrustStore, KeyPair, listen, MemoryTrustStore, type ReceiptFinding, Stoa, Trust, TrustError, type TrustStore,
} from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

type Record = { [name: string]: unknown };

/** A fetch whose answers `lie` changes, and which counts the POST requests that reached the server. */
function liar() {
  const lying = {
    lie: undefined as ((body: Record, path: string) => Record) | undefined,
    posts: 0,
    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const request = new Request(input, init);
      if (request.method === "POST") {
        lying.posts++;
      }
      const answer = await fetch(request);
      if (!lying.lie) {
        return answer;
      }
      const body = lying.lie((await answer.json()) as Record, new URL(request.url).pathname);
      return new Response(JSON.stringify(body), { status: answer.status, headers: { "Content-Type": "application/json" } });
    },
  };
  return lying;
}

/** A lie about each message in an answer. */
const onMessages = (change: (message: Record) => Record) => function each<T>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(each) as T;
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if ("ciphertext" in value) {
    return change(value as Record) as T;
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, each(member)])) as T;
};

const replacing = (truth: string, lie: string) => (body: Record) => JSON.parse(JSON.stringify(body).replaceAll(truth, lie)) as Record;

const reflected = (m: Record) => ({
  ...m, sender_id: m.recipient_id, recipient_id: m.sender_id, sender_public_key: m.recipient_public_key,
  recipient_public_key: m.sender_public_key,
});

test("another key under a known name stops sealing, opening and offering before anything is posted", async () => {
  const lying = liar();
  const { alice, bob } = await server.friends({ fetch: lying.fetch });
  const { handle, id, encryption_public_key: key } = bob.bot;
  await alice.stoa.send(await alice.stoa.find(handle), "hello");
  await bob.stoa.send(alice.bot, "hello yourself");
  const terms = {
    title: "x", description: "x", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id: id, confirmed_total_minor: 1100,
  };
  const changed = { name: "TrustError", code: "key_changed", message: new RegExp(`unpin\\("@${handle}"\\)`) };
  const eve = KeyPair.generate().publicKey;
  for (const lie of [replacing(key, eve), replacing(id, crypto.randomUUID())]) {
    lying.lie = lie;
    lying.posts = 0;
    await assert.rejects(alice.stoa.find(handle), changed);
    await assert.rejects(alice.stoa.find(`@${handle.toUpperCase()}`), changed);
    await assert.rejects(alice.stoa.send({ id, handle, encryption_public_key: eve }, "hello"), changed);
  }
  lying.lie = replacing(key, eve);
  await assert.rejects(alice.stoa.offer(terms), changed);
  const { messages } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/messages", { params: { query: { peer: id } } }));
  for (const message of messages) {
    await assert.rejects(alice.stoa.open(message, id), changed);
  }
  assert.equal(lying.posts, 0);

  lying.lie = undefined;
  assert.equal((await alice.stoa.trust!.unpin(`@${handle}`)).key, key);
  await alice.stoa.send(await alice.stoa.find(handle), "hello again");
});

test("a response of an agent whose key has changed is not chosen, not even by follow", async () => {
  const lying = liar();
  const { alice, bob } = await server.friends({ fetch: lying.fetch });
  await alice.stoa.find(bob.bot.handle);
  const body = { title: "x", description: "x", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000 };
  const { task: { id } } = await alice.stoa.done(alice.stoa.api.POST("/api/v1/tasks", { body }));
  const { response } = await bob.stoa.done(
    bob.stoa.api.POST("/api/v1/tasks/{task_id}/responses", { params: { path: { task_id: id } }, body: { text: "I can." } }));
  const { task } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } }));
  const chosen = { response_id: response.id, confirmed_total_minor: 1100 };
  lying.lie = replacing(bob.bot.encryption_public_key, KeyPair.generate().publicKey);
  lying.posts = 0;
  await assert.rejects(alice.stoa.select(id, response.id, 1100), { code: "key_changed" });
  await assert.rejects(alice.stoa.follow(actionOf(task, "select")!, chosen), { code: "key_changed" });
  assert.equal(lying.posts, 0);
  lying.lie = undefined;
  assert.equal((await alice.stoa.follow(actionOf(task, "select")!, chosen)).order.state, "funded");
});

test("a receipt is only accepted for its own order", async () => {
  const asked = crypto.randomUUID();
  let id = "";
  const { alice, bob } = await server.friends({
    fetch: (request) => fetch(new Request((request as Request).url.replace(asked, id), request as Request)),
  });
  let order = await alice.stoa.offer({
    title: "x", description: "x", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id: bob.bot.id, confirmed_total_minor: 1100,
  });
  id = order.id;
  order = await bob.stoa.act(id, "accept", order.version);
  order = await bob.stoa.act(id, "start", order.version);
  order = await bob.stoa.act(id, "deliver", order.version, { result_text: "Done." });
  order = await alice.stoa.act(id, "complete", order.version);
  let found: ReceiptFinding | undefined;
  while (!found) { // the receipt is not signed yet
    await new Promise((resolve) => setTimeout(resolve, 200));
    found = await alice.stoa.verifyReceipt(id.toUpperCase()).catch((error: Fault) => error.code === "not_found" ? undefined : Promise.reject(error));
  }
  assert.equal(found.finding, "valid", found.reason);
  assert.deepEqual(await alice.stoa.verifyReceipt(asked), { finding: "invalid", reason: "the receipt is of another order", ratings: [] });
});

test("a message that contradicts its record is not opened", async () => {
  const lying = liar();
  const { alice, bob } = await server.friends({ fetch: lying.fetch });
  const carol = await server.register("carol");
  await server.befriend(alice.stoa, carol.stoa, carol.bot.id);
  await alice.stoa.send(bob.bot, "pay carol");
  await bob.stoa.send(alice.bot, "no");
  await carol.stoa.send(alice.bot, "pay me");
  const read = async () => {
    const { messages } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/messages", { params: { query: { peer: bob.bot.id } } }));
    return Promise.all(messages.map(async (message) => {
      try {
        const { text, bound } = await alice.stoa.open(message, bob.bot.id);
        assert.ok(bound);
        return text;
      } catch (error) {
        return (error as TrustError).code;
      }
    }));
  };
  assert.deepEqual(await read(), ["no", "pay carol"]);
  const lies: [(m: Record) => Record, string][] = [
    [reflected, "reflected"],
    [(m) => ({ ...m, client_message_id: crypto.randomUUID() }), "altered"],
    [(m) => ({ ...m, sender_id: carol.bot.id }), "altered"],
    [(m) => ({ ...m, recipient_id: carol.bot.id }), "altered"],
    [(m) => ({ ...m, sender_id: carol.bot.id, sender_public_key: carol.bot.encryption_public_key, recipient_id: alice.bot.id }), "altered"],
  ];
  for (const [lie, code] of lies) {
    lying.lie = onMessages(lie);
    assert.deepEqual(await read(), [code, code]);
  }
  lying.lie = onMessages((m) => ({ ...m, client_message_id: crypto.randomUUID() }));
  await assert.rejects(alice.stoa.send(bob.bot, "hello"), { code: "altered" });

  // An event shows an agent's own words as another's.
  lying.lie = onMessages((m) => ({ ...reflected(m), id: m.id }));
  const { messages } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/messages", { params: { query: { peer: bob.bot.id } } }));
  const mirror = messages.at(-1)!; // alice's first
  const payload = { ...mirror, message: mirror, message_id: mirror.id };
  lying.lie = undefined;
  await assert.rejects(alice.stoa.text({ event_id: mirror.id, kind: "message.created", payload }), { code: "reflected" });
});

test("a message of a friend that does not open is refused with a code, and the events after it come", async () => {
  const { alice, bob } = await server.friends();
  const [mine, theirs] = [decode(bob.stoa.keys!.privateKey), decode(alice.bot.encryption_public_key)];
  const post = (plain: Uint8Array, by: Uint8Array = mine) => {
    const nonce = nacl.randomBytes(nacl.box.nonceLength);
    const body = {
      recipient_id: alice.bot.id, client_message_id: crypto.randomUUID(), nonce: encode(nonce), ciphertext: encode(nacl.box(plain, nonce, theirs, by)),
      encryption_version: "box-v1" as const, sender_public_key: bob.bot.encryption_public_key, recipient_public_key: alice.bot.encryption_public_key,
    };
    return bob.stoa.done(bob.stoa.api.POST("/api/v1/messages", { body }));
  };
  await post(new Uint8Array([1]), nacl.randomBytes(32)); // another key
  await post(new Uint8Array([0xff, 0xfe, 0xfd])); // no UTF-8
  await post(new Uint8Array()); // no text
  await bob.stoa.send(alice.bot, "sorry");
  const got: (string | undefined)[] = [];
  for await (const { event, acknowledge } of listen(alice.stoa)) {
    if (event.kind === "message.created") {
      try {
        got.push((await alice.stoa.text(event))?.text);
      } catch (error) {
        if (!(error instanceof TrustError)) throw error;
        got.push(error.code);
      }
    }
    await acknowledge();
    if (got.length === 4) {
      break;
    }
  }
  assert.deepEqual(got, ["altered", "altered", "", "sorry"]);
});

test("a malformed message is refused with a code", async () => {
  const { alice, bob } = await server.friends();
  await bob.stoa.send(alice.bot, "hello");
  const { messages: [message] } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/messages", { params: { query: { peer: bob.bot.id } } }));
  const lies: [Partial<Record>, string][] = [
    [{ ciphertext: "no base64!" }, "altered"], [{ ciphertext: "" }, "altered"], [{ nonce: "AAAA" }, "altered"],
    [{ encryption_version: "box-v2" }, "altered"], [{ sender_public_key: "AAAA" }, "altered"], [{ id: "x" }, "altered"],
    [{ sender_id: crypto.randomUUID() }, "altered"],
  ];
  for (const [lie, code] of lies) {
    await assert.rejects(alice.stoa.open({ ...message!, ...lie }), { name: "TrustError", code }, JSON.stringify(lie));
  }
  await alice.stoa.find(bob.bot.handle);
  await assert.rejects(alice.stoa.open({ ...message!, sender_public_key: "no base64!" }), { name: "TrustError", code: "key_changed" });
});

test("a text has up to 8,000 characters and 15,000 bytes", async () => {
  const lying = liar();
  const { alice, bob } = await server.friends({ fetch: lying.fetch });
  lying.posts = 0;
  for (const text of ["", "x".repeat(8001), "é".repeat(7501), `${"€".repeat(5000)}x`]) {
    await assert.rejects(alice.stoa.send(bob.bot, text), RangeError);
  }
  for (const to of [bob.bot.handle, { id: bob.bot.id, handle: bob.bot.handle }, { id: bob.bot.id, bot: bob.bot }, undefined]) {
    await assert.rejects(alice.stoa.send(to as never, "hello"), /needs an agent, as find returns it/);
  }
  await assert.rejects(alice.stoa.send(bob.bot, "hello", "hello"), TypeError);
  await assert.rejects(alice.stoa.follow(undefined as never), /not possible now/);
  assert.equal(lying.posts, 0);
  for (const text of ["\u{1F680}".repeat(3750), "é".repeat(7500), "x".repeat(8000)]) {
    await alice.stoa.send(bob.bot, text);
  }
});

test("an agent without a store for pins is refused, before it registers", async () => {
  const { indexedDB } = globalThis;
  try {
    Object.assign(globalThis, { indexedDB: undefined });
    assert.throws(() => new Stoa({ origin: server.origin, keys: KeyPair.generate() }), /FileTrustStore/);
    const lying = liar();
    const options = { origin: server.origin, fetch: lying.fetch };
    await assert.rejects(Stoa.register(options, KeyPair.generate(), { handle: "too_late", display_name: "x" }), /FileTrustStore/);
    assert.equal(lying.posts, 0);
  } finally {
    Object.assign(globalThis, { indexedDB });
  }
  assert.ok(new Stoa({ origin: server.origin, keys: KeyPair.generate() }).trust?.store instanceof IndexedDBTrustStore);
});

const stores: [string, () => Promise<() => TrustStore>][] = [
  ["memory", async () => {
    const store = new MemoryTrustStore();
    return () => store;
  }],
  ["a file", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key.trust");
    return () => new FileTrustStore(path);
  }],
  ["IndexedDB", async () => {
    const name = crypto.randomUUID();
    return () => new IndexedDBTrustStore(name);
  }],
];
for (const [name, make] of stores) {
  test(`pins hold in ${name}, for every program that uses it`, async () => {
    const open = await make();
    const [id, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const keys = Array.from({ length: 8 }, () => KeyPair.generate().publicKey);
    const tried = await Promise.allSettled(keys.map((encryption_public_key) => new Trust(open()).check({ id, handle: "otto", encryption_public_key })));
    const pins = await new Trust(open()).pins();
    const kept = pins.get(id)!.key;
    assert.deepEqual(tried.map(({ status }) => status === "fulfilled"), keys.map((key) => key === kept));
    const changed = { code: "key_changed" };
    await assert.rejects(new Trust(open()).check({ id, encryption_public_key: keys.find((key) => key !== kept)! }), changed);
    await assert.rejects(new Trust(open()).check({ id: other, handle: "otto", encryption_public_key: kept! }), changed);
    await new Trust(open()).check({ id: id.toUpperCase(), handle: "otto", encryption_public_key: kept! });
    await new Trust(open()).check({ id, handle: "otto", encryption_public_key: null });
    await new Trust(open()).unpin("@otto");
    await new Trust(open()).check({ id: other, handle: "otto", encryption_public_key: keys[0]! });
    assert.equal((await new Trust(open()).pins()).size, 1);
  });
}

test("a trust file is private, survives a cut line, and works with stoa agent", async () => {
  const folder = await mkdtemp(join(tmpdir(), "stoa-"));
  const file = join(folder, "agent.key");
  const handle = `keyed_${crypto.randomUUID().slice(0, 8)}`;
  const stoa = await Stoa.create(file, { origin: server.origin }, { handle, display_name: "Keyed" });
  const { bot } = await server.register("otto");
  await stoa.find(bot.handle);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(`${file}.trust`)).mode & 0o777, 0o600);
  await appendFile(`${file}.trust`, '{"id":"cut');
  const { bot: mira } = await server.register("mira");
  await stoa.find(mira.handle);
  assert.equal((await (await Stoa.open(file)).trust!.pins()).size, 2);
  const listed = JSON.parse(String(execFileSync(process.env.STOA_BINARY!, ["agent", "--key", file, "--json", "pins"]))) as { handle: string }[];
  assert.deepEqual(listed.map((pin) => pin.handle).sort(), [mira.handle, bot.handle].sort());
  assert.match(await readFile(`${file}.trust`, "utf8"), /"via":"log"/);
  execFileSync(process.env.STOA_BINARY!, ["agent", "--key", file, "verify", bot.handle, bot.encryption_key_fingerprint]);
  assert.equal((await (await Stoa.open(file)).trust!.pins()).get(bot.id)?.via, "fingerprint");
});

for (const by of ["socket", "poll"] as const) {
  test(`a listener by ${by} survives a rotation of the key file's token`, async () => {
    const file = join(await mkdtemp(join(tmpdir(), "stoa-")), "agent.key");
    const handle = `keyed_${crypto.randomUUID().slice(0, 8)}`;
    const stoa = await Stoa.create(file, { origin: server.origin }, { handle, display_name: "Keyed" });
    const { stoa: alice } = await server.register("alice");
    const keyed = await alice.find(handle);
    await server.befriend(alice, stoa, keyed.id);
    const seen: string[] = [];
    const rotate = [
      async () => void execFileSync(process.env.STOA_BINARY!, ["agent", "--key", file, "rotate"]), // another program
      async () => void (await stoa.rotate()), // this one
    ];
    for await (const delivery of listen(stoa, { by })) {
      await delivery.acknowledge();
      seen.push((await stoa.text(delivery.event))?.text ?? delivery.event.kind);
      const next = rotate.shift();
      if (!next) {
        break;
      }
      await next();
      await alice.send(keyed, `${rotate.length} left`);
    }
    assert.deepEqual(seen, ["contact.requested", "1 left", "0 left"]);
  });
}
