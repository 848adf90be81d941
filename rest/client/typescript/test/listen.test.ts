import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { copyFile, mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocketServer } from "ws";
import { listen, ListenError, MemoryEventStore, Stoa, type Delivery } from "../src/index.js";
import { listeningName } from "../src/listen.js";
import { socket } from "../src/socket.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

/** The first deliveries; the rest is not read. */
async function first(count: number, deliveries: AsyncIterable<Delivery>, handle: (d: Delivery) => Promise<void>): Promise<Delivery[]> {
  const got: Delivery[] = [];
  for await (const d of deliveries) {
    await handle(d);
    got.push(d);
    if (got.length === count) {
      break;
    }
  }
  return got;
}

for (const by of ["socket", "poll"] as const) {
  test(`events come in order by ${by}, and again until they are acknowledged`, async () => {
    const { alice, bob } = await server.friends();
    for (let i = 0; i < 4; i++) {
      await alice.stoa.send(bob.bot, `message ${i}`);
    }
    const seen = await first(5, listen(bob.stoa, { by }), async () => undefined);
    assert.deepEqual(seen.map((d) => d.event.kind), ["contact.requested", ...Array<string>(4).fill("message.created")]);
    const again = await first(5, listen(bob.stoa, { by }), (d) => d.acknowledge());
    assert.deepEqual(again.map((d) => d.event.event_id), seen.map((d) => d.event.event_id));
    await alice.stoa.send(bob.bot, "the last");
    const [last] = await first(1, listen(bob.stoa, { by }), (d) => d.acknowledge());
    const { text, bound } = (await bob.stoa.text(last!.event))!;
    assert.deepEqual([text, bound], ["the last", true]);
  });

  test(`an event that the store has is not handed over again by ${by}`, async () => {
    const { alice, bob } = await server.friends();
    const store = new MemoryEventStore();
    const [requested] = await first(1, listen(bob.stoa, { by }), async () => undefined);
    store.add(requested!.event.event_id); // stored, and the process died before its ack
    await alice.stoa.send(bob.bot, "hello");
    const [next] = await first(1, listen(bob.stoa, { by, store }), (d) => d.acknowledge());
    assert.equal(next!.event.kind, "message.created");
  });

  test(`a listener waits by ${by} for later events, and ends with its signal`, async () => {
    const { alice, bob } = await server.friends();
    const ended = new AbortController();
    const kinds: string[] = [];
    for await (const d of listen(bob.stoa, { by, signal: ended.signal })) {
      await d.acknowledge();
      kinds.push(d.event.kind);
      if (d.event.kind === "contact.requested") {
        await alice.stoa.send(bob.bot, "later");
      } else {
        ended.abort();
      }
    }
    assert.deepEqual(kinds, ["contact.requested", "message.created"]);
  });

  test(`a token that is not valid ends listening by ${by}`, async () => {
    const stranger = new Stoa({ origin: server.origin, token: "stoa_nobody" });
    await assert.rejects(first(1, listen(stranger, { by }), async () => undefined), ListenError);
  });
}

for (const by of ["socket", "poll"] as const) {
  test(`own: false acknowledges the agent's own acts by ${by}, and leaves them out`, async () => {
    const { alice, bob } = await server.friends();
    const { quote } = await alice.stoa.done(alice.stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor: 1000 } }));
    const order = await alice.stoa.offer({
      title: "A sonnet", description: "Fourteen lines.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000,
      contractor_id: bob.bot.id, confirmed_total_minor: quote.total_minor,
    });
    await bob.stoa.act(order.id, "accept", 1);
    const actions: unknown[] = [];
    await first(2, listen(alice.stoa, { by, own: false }), async ({ event, acknowledge }) => {
      await acknowledge();
      actions.push(event.kind === "order.changed" ? [event.payload.action, event.payload.actor_id] : event.kind);
    });
    assert.deepEqual(actions.filter((action) => Array.isArray(action)), [["accept", bob.bot.id]]);
    const { events } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/events", { params: { query: { version: 2 } } }));
    assert.deepEqual(events.filter(({ kind }) => kind === "order.changed"), []);
    const own: string[] = [];
    await first(3, listen(bob.stoa, { by }), async ({ event }) => {
      own.push(event.kind === "order.changed" ? String(event.payload.action) : event.kind);
    });
    assert.deepEqual(own, ["contact.requested", "create", "accept"]);
  });

  test(`a listener by ${by} goes on with the token of a rotation, without a key file`, async () => {
    const { alice, bob } = await server.friends();
    const kinds: string[] = [];
    for await (const { event, acknowledge } of listen(bob.stoa, { by })) {
      await acknowledge();
      kinds.push(event.kind);
      if (kinds.length === 1) {
        const old = bob.stoa.token;
        const [token] = await Promise.all([bob.stoa.rotate(), bob.stoa.done(bob.stoa.api.GET("/api/v1/wallet"))]);
        assert.notEqual(token, old);
        assert.equal(bob.stoa.token, token);
        await alice.stoa.send(bob.bot, "after the rotation");
      } else if (event.kind === "message.created") {
        assert.equal((await bob.stoa.text(event))?.text, "after the rotation");
        break;
      }
    }
    assert.deepEqual(kinds, ["contact.requested", "message.created"]);
  });
}

test("events are of version 2 unless another is asked for", async () => {
  const { stoa } = await server.register("newcomer");
  await stoa.done(stoa.api.PATCH("/api/v1/bots/me", { body: { bio: "A change of what is recommended." } }));
  const [recommended] = await first(1, listen(stoa), (d) => d.acknowledge());
  assert.equal(recommended!.event.kind, "profile.recommendations");
});

test("a listener has the name that the client for Go gives it", async () => {
  assert.equal(
    await listeningName("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
    "stoa-listening-fa5d87c7513417438a2de6d17f701aec019e9210c72a85a07bab9e4856608dbe",
  );
});

test("a key file and its copies have one listener on a machine", { skip: process.platform !== "linux" }, async () => {
  const file = join(await mkdtemp(join(tmpdir(), "stoa-")), "ada.key");
  const handle = `ada_${Math.random().toString(36).slice(2, 10)}`;
  const ada = await Stoa.create(file, { origin: server.origin }, { handle, display_name: "Ada" });
  await ada.done(ada.api.PATCH("/api/v1/bots/me", { body: { bio: "A change of what is recommended." } }));
  await copyFile(file, `${file}.copy`);
  const copy = await Stoa.open(`${file}.copy`);
  const running = listen(ada);
  await running.next();
  await assert.rejects(listen(copy).next(), (error) => error instanceof ListenError && error.code === "listening");
  await running.return();
  await first(1, listen(copy), (d) => d.acknowledge());
});

test("a listener warns of another listener with the same token elsewhere", async () => {
  const { bob } = await server.friends();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const running = listen(bob.stoa, { by: "socket", warn });
  await running.next();
  assert.deepEqual(warnings, []);
  for (const by of ["socket", "poll"] as const) {
    await first(1, listen(new Stoa({ origin: server.origin, token: bob.stoa.token! }), { by, warn }), async () => undefined);
  }
  await running.return();
  assert.equal(warnings.length, 2);
  assert.match(warnings[0]!, /another program listens/);
});

test("a frame that is no event ends the connection, not the program, and an aborted signal leaves no listener", async () => {
  const frames = ["no JSON", "null", JSON.stringify({ type: "event", event_id: "1", kind: "export.ready", payload: { export_id: "2" } })];
  const http = createServer((_, response) => void response.setHeader("Content-Type", "application/json").end('{"events": []}'));
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (ws) => ws.send(frames.shift()!));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const stoa = new Stoa({ origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, token: "t" });
  const [got] = await first(1, listen(stoa, { by: "socket" }), async () => undefined);
  assert.equal(got!.event.kind, "export.ready");
  sockets.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  const { signal } = new AbortController();
  await assert.rejects(socket(stoa, 2, signal));
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});
