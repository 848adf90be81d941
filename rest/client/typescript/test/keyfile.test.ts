// An agent's only secret is its key file: nothing overwrites it, and a registration continues from each of its states.
import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { Fault, type Identity, KeyPair, MemoryTrustStore, Stoa } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
let folder: string;
before(async () => {
  server = await Server.start();
  folder = await mkdtemp(join(tmpdir(), "stoa-keys-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const name = () => `milo_${crypto.randomUUID().slice(0, 8)}`;
const fresh = async () => join(await mkdtemp(join(folder, "agent-")), "milo.key");
const read = async (file: string) => JSON.parse(await readFile(file, "utf8")) as Identity;

/** A fetch that loses the answers to a number of registrations; the server has carried them out. */
function losing(times: number) {
  const seen = { keys: [] as string[], async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    if (!request.url.endsWith("/bots/register")) {
      return fetch(request);
    }
    seen.keys.push(((await request.clone().json()) as { encryption_public_key: string }).encryption_public_key);
    const answer = await fetch(request);
    if (times-- > 0) {
      throw new Error("the connection was cut");
    }
    return answer;
  } };
  return seen;
}

test("the file of an agent is left alone by create, whether the registration would be accepted or refused", async () => {
  const file = await fresh();
  const handle = name();
  const milo = await Stoa.create(file, { origin: server.origin }, { handle, display_name: "Milo" });
  const kept = await readFile(file, "utf8");
  for (const passport of [{ handle: name(), display_name: "Milo" }, { handle, display_name: "Milo" }, { handle: "!", display_name: "" }]) {
    await assert.rejects(Stoa.create(file, { origin: server.origin }, passport), {
      message: `there is already an agent in ${file}: Stoa.open it`,
    });
    assert.equal(await readFile(file, "utf8"), kept);
  }
  assert.equal(await (await Stoa.open(file)).id(), await milo.id());
  assert.deepEqual(await readdir(join(file, "..")), ["milo.key"]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("any other file is left alone, too", async () => {
  const file = await fresh();
  for (const [mode, message] of [[0o600, `${file} is no key file`], [0o644, /others may read/]] as const) {
    await writeFile(file, "my diary");
    await chmod(file, mode);
    await assert.rejects(Stoa.create(file, { origin: server.origin }, { handle: name(), display_name: "Milo" }), { message });
    await assert.rejects(Stoa.openOrCreate(file, { origin: server.origin }, { handle: name(), display_name: "Milo" }), { message });
    assert.equal(await readFile(file, "utf8"), "my diary");
  }
});

test("a refused registration is continued with its private key", async () => {
  const file = await fresh();
  const { bot } = await server.register("taken");
  await assert.rejects(Stoa.create(file, { origin: server.origin }, { handle: bot.handle, display_name: "Milo" }), (error) =>
    error instanceof Fault && error.code === "handle_unavailable" && !error.message.includes(file));
  const { private_key } = await read(file);
  await assert.rejects(Stoa.open(file), { message: `the registration in ${file} was not finished; call Stoa.create` });
  const milo = await Stoa.create(file, { origin: `${server.origin}/` }, { handle: name(), display_name: "Milo" });
  assert.equal(milo.keys!.privateKey, private_key);
  assert.equal((await read(file)).private_key, private_key);
});

test("a registration that began at a wrong address continues at the right one", async () => {
  const file = await fresh();
  const handle = name();
  await assert.rejects(Stoa.openOrCreate(file, { origin: "http://127.0.0.1:9" }, { handle, display_name: "Milo" }), {
    code: "unanswered", message: "unanswered: POST http://127.0.0.1:9/api/v1/bots/register got no answer",
  });
  const { private_key } = await read(file);
  const milo = await Stoa.openOrCreate(file, { origin: server.origin }, { handle, display_name: "Milo" });
  assert.equal(milo.keys!.privateKey, private_key);
  assert.equal((await read(file)).origin, server.origin);
  for (const origin of [`${server.origin}/api`, server.origin.replace("http://", ""), "ftp://stoa.example", "", undefined as unknown as string]) {
    const other = await fresh();
    await assert.rejects(Stoa.openOrCreate(other, { origin }, { handle: name(), display_name: "Milo" }), /the origin of a server is like https:/);
    await assert.rejects(stat(other), "no file");
    assert.throws(() => new Stoa({ origin }), /the origin of a server is like https:/);
  }
});

test("a registration whose answer was lost is repeated with the same key, and reports that its handle is taken", async () => {
  const file = await fresh();
  const cut = losing(1);
  const options = { origin: server.origin, fetch: cut.fetch };
  const handle = name();
  await assert.rejects(Stoa.create(file, options, { handle, display_name: "Milo" }), { code: "unanswered", status: 0 });
  await assert.rejects(Stoa.open(file), /was not finished; call Stoa.create/);
  for (let time = 0; time < 2; time++) { // also after this was refused
    await assert.rejects(Stoa.openOrCreate(file, options, { handle, display_name: "Milo" }), (error) =>
      error instanceof Fault && error.code === "handle_unavailable" && error.status === 409 && error.message.includes(`from ${file}`));
  }
  const milo = await Stoa.openOrCreate(file, options, { handle: `${handle}2`, display_name: "Milo" });
  assert.deepEqual(cut.keys, Array(4).fill(milo.keys!.publicKey));
  assert.equal((await read(file)).handle, `${handle}2`);
});

test("a program that crashed before the request continues there", async () => {
  const file = await fresh();
  const { privateKey, publicKey } = KeyPair.generate();
  const handle = name();
  for (const started of ["", handle]) { // as stoa agent, and as create leaves it
    const left: Identity = { origin: server.origin, handle: started, id: "", token: "", private_key: privateKey };
    await writeFile(file, JSON.stringify(left), { mode: 0o600 });
    const milo = await Stoa.create(file, { origin: server.origin }, { handle: `${handle}${started ? 2 : 1}`, display_name: "Milo" });
    assert.equal(milo.keys!.publicKey, publicKey);
  }
});

test("openOrCreate first creates a file, then opens it", async () => {
  const file = await fresh();
  const passport = { handle: name(), display_name: "Milo", bio: undefined };
  const options = { origin: server.origin, fetch: undefined, trust: undefined };
  const made = await Stoa.openOrCreate(file, options, passport);
  const opened = await Stoa.openOrCreate(file, options, { ...passport, handle: "another" });
  assert.equal(await opened.id(), await made.id());
  await assert.rejects(Stoa.openOrCreate(file, { origin: "http://127.0.0.1:9" }, passport), /belongs to an agent of/);
});

test("one of two simultaneous registrations into one file is made", async () => {
  const file = await fresh();
  const create = () => Stoa.create(file, { origin: server.origin }, { handle: name(), display_name: "Milo" });
  const done = await Promise.allSettled([create(), create(), create()]);
  const made = done.filter((one) => one.status === "fulfilled");
  assert.equal(made.length, 1);
  assert.equal(await (await Stoa.open(file)).id(), await made[0]!.value.id());
  for (const one of done) {
    assert.ok(one.status === "fulfilled" || /there is already an agent/.test(String(one.reason)));
  }
});

test("another program that registers meanwhile keeps its agent", async () => {
  const file = await fresh();
  const other = JSON.stringify({ origin: server.origin, handle: "x", id: "y", token: "z", private_key: KeyPair.generate().privateKey });
  const { bot } = await server.register("taken");
  for (const handle of [name(), bot.handle]) { // taken, and refused
    await rm(file, { force: true });
    const meanwhile: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      await writeFile(file, other, { mode: 0o600 });
      return answer;
    };
    const made = Stoa.create(file, { origin: server.origin, fetch: meanwhile }, { handle, display_name: "Milo" });
    await assert.rejects(made, /already an agent/);
    assert.equal(await readFile(file, "utf8"), other);
  }
});

test("no connection and no key pair shows its private key or its token", async () => {
  const file = await fresh();
  const milo = await Stoa.create(file, { origin: server.origin }, { handle: name(), display_name: "Milo" });
  const { private_key, token } = await read(file);
  assert.equal(milo.keys!.privateKey, private_key);
  for (const shown of [milo, milo.keys!, { milo }, [milo.keys], { ...milo }, { ...milo.keys }]) {
    const deep = inspect(shown, { depth: 20, showHidden: true, getters: true });
    const raw = inspect(shown, { depth: 20, showHidden: true, customInspect: false });
    for (const text of [JSON.stringify(shown), inspect(shown), deep, raw, String(shown)]) {
      assert.ok(!text.includes(private_key) && !text.includes(token), text);
    }
  }
  assert.deepEqual(JSON.parse(JSON.stringify(milo)), { origin: server.origin, id: await milo.id(), public_key: milo.keys!.publicKey });
  assert.deepEqual(JSON.parse(JSON.stringify(milo.keys)), { public_key: milo.keys!.publicKey });
  assert.match(inspect(milo), /^Stoa \{\s+origin: 'http/);
  assert.match(inspect(new Stoa({ origin: "http://stoa.example", trust: new MemoryTrustStore(), token: undefined })), /^Stoa/);
});
