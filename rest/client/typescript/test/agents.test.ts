import assert from "node:assert/strict";
import { after as afterAll, before, test } from "node:test";
import { after, derivedOperationId, Fault, KeyPair, MemoryTrustStore, pages, Stoa, TrustError } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
afterAll(() => server.stop());

test("a refusal is a fault with its code, status, request id and fields", async () => {
  const { bot } = await server.register("carol");
  await assert.rejects(
    Stoa.register({ origin: server.origin, trust: new MemoryTrustStore() }, KeyPair.generate(), { handle: bot.handle, display_name: "x" }),
    (error) => error instanceof Fault && error.code === "handle_unavailable" && error.status === 409 &&
      error.requestId !== undefined && error.message.endsWith(` (request ${error.requestId})`),
  );
  const stranger = new Stoa({ origin: server.origin, token: "stoa_nobody" });
  await assert.rejects(stranger.done(stranger.api.GET("/api/v1/wallet")), { code: "unauthorized", status: 401 });
  const { stoa } = await server.register("dave");
  await assert.rejects(stoa.done(stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor: -1 } })), (error) =>
    error instanceof Fault && error.code === "invalid_input" && error.fields.amount_minor !== undefined);
});

test("a message is read by its recipient alone, and is the same on both sides", async () => {
  const { alice, bob } = await server.friends();
  const text = "Grüße, 世界 \u{1F680}";
  const sent = await alice.stoa.send(bob.bot, text);
  const { messages } = await bob.stoa.done(bob.stoa.api.GET("/api/v1/messages", { params: { query: { peer: alice.bot.id } } }));
  assert.equal(messages.length, 1);
  const { sealedAt, ...read } = await bob.stoa.open(messages[0]!, alice.bot.id);
  assert.deepEqual(read, { text, bound: true });
  assert.deepEqual(await alice.stoa.open(sent), { text, bound: true, sealedAt });
  const { stoa: carol } = await server.register("carol");
  await assert.rejects(carol.open(sent), TrustError);
  assert.throws(() => carol.keys!.open(sent), /cannot be opened/);
});

test("an order is paid once, however often its steps are repeated", async () => {
  const { alice, bob } = await server.friends();
  const quote = await alice.stoa.done(alice.stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor: 10_000 } }));
  const offer = {
    title: "A summary", description: "At most 200 words.", deadline: new Date(Date.now() + 86_400_000).toISOString(), amount_minor: 10_000,
    contractor_id: bob.bot.id, confirmed_total_minor: quote.quote.total_minor,
  };
  const body = { ...offer, operation_id: derivedOperationId("POST", "/api/v1/orders", offer) };
  const { order } = await alice.stoa.done(alice.stoa.api.POST("/api/v1/orders", { body }));
  assert.equal((await alice.stoa.done(alice.stoa.api.POST("/api/v1/orders", { body }))).order.id, order.id);

  const path = { params: { path: { order_id: order.id } } };
  const step = (action: string, version: number, more = {}) => {
    const sent = { expected_version: version, ...more };
    return { ...sent, operation_id: derivedOperationId("POST", `/api/v1/orders/${order.id}/${action}`, sent) };
  };
  for (let time = 0; time < 2; time++) {
    await bob.stoa.done(bob.stoa.api.POST("/api/v1/orders/{order_id}/accept", { ...path, body: step("accept", 1) }));
    await bob.stoa.done(bob.stoa.api.POST("/api/v1/orders/{order_id}/start", { ...path, body: step("start", 2) }));
    await bob.stoa.done(
      bob.stoa.api.POST("/api/v1/orders/{order_id}/deliver", { ...path, body: { ...step("deliver", 3, { result_text: "Here." }), result_text: "Here." } }),
    );
    await alice.stoa.done(alice.stoa.api.POST("/api/v1/orders/{order_id}/complete", { ...path, body: step("complete", 4) }));
  }
  const rating = await alice.stoa.rate(order.id, 5, "Knew what was wanted.");
  assert.equal((await alice.stoa.rate(order.id, 5, "Knew what was wanted.")).id, rating.id);
  const { bot } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id: bob.bot.id } } }));
  const score = { average: 5, ratings: 1, counterparties: 1 };
  const none = { average: null, ratings: 0, counterparties: 0 };
  const reputation = { ...score, owners: null, volume_minor: 10_000, disputed: 0, overdue: 0, as_contractor: score, as_customer: none };
  assert.deepEqual(bot.reputation, reputation);
  const { wallet } = await bob.stoa.done(bob.stoa.api.GET("/api/v1/wallet"));
  assert.equal(wallet.available_minor, 510_000);

  const kinds: string[] = [];
  for await (const entry of after((cursor: number | undefined) =>
    bob.stoa.done(bob.stoa.api.GET("/api/v1/wallet/history", { params: { query: { limit: 1, ...(cursor ? { before: cursor } : {}) } } })), "entries")) {
    kinds.push(entry.kind);
  }
  assert.deepEqual(kinds, ["payment", "grant"]);
});

test("the tools derive the same operation ids", async () => {
  const { alice, bob } = await server.friends();
  const offer = {
    title: "Färbe <das> & dies", description: "one\nword \u{1F680}", deadline: "2099-01-31T12:00:00Z", amount_minor: 5000,
    contractor_id: bob.bot.id, confirmed_total_minor: 5500,
  };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "offer_order", arguments: offer } };
  const answer = await fetch(`${server.origin}/mcp`, {
    method: "POST", body: JSON.stringify(call), headers: {
      Authorization: `Bearer ${alice.token}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    },
  });
  const { result } = (await answer.json()) as { result: { structuredContent: { order: { id: string } } } };
  const repeated = await alice.stoa.done(
    alice.stoa.api.POST("/api/v1/orders", { body: { ...offer, operation_id: derivedOperationId("POST", "/api/v1/orders", offer) } }),
  );
  assert.equal(repeated.order.id, result.structuredContent.order.id);
});

test("a list is read page by page", async () => {
  const { stoa } = await server.register("gina");
  for (let i = 0; i < 5; i++) {
    await stoa.done(stoa.api.POST("/api/v1/services", {
      body: { title: `service ${i}`, description: "of gina" },
    }));
  }
  const titles: string[] = [];
  for await (const service of pages((page) =>
    stoa.done(stoa.api.GET("/api/v1/services", { params: { query: { page, page_size: 2, q: "of gina" } } })), "services")) {
    titles.push(service.title);
  }
  assert.equal(titles.length, 5);
});

test("a repeated change reports that, and shows the order's current state", async () => {
  const { alice, bob } = await server.friends();
  const terms = {
    title: "A sonnet", description: "Fourteen lines.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id: bob.bot.id,
    confirmed_total_minor: 1100,
  };
  const made = await alice.stoa.offer(terms);
  assert.equal(made.replayed, false);
  assert.equal(made.stored, undefined);
  assert.equal((await alice.stoa.act(made.id, "cancel", 1)).state, "cancelled");
  const again = await alice.stoa.offer(terms);
  assert.deepEqual([again.id, again.replayed, again.state, again.stored?.state], [made.id, true, "cancelled", "offered"]);
  const raw = { ...terms, operation_id: derivedOperationId("POST", "/api/v1/orders", terms) };
  const { body, replayed } = await alice.stoa.result(alice.stoa.api.POST("/api/v1/orders", { body: raw }));
  assert.deepEqual([body.order.state, replayed], ["offered", true]);
});

test("a handle names one agent, even if others mention it and come first by name", async () => {
  const { stoa } = await server.register("asks");
  const otto = await server.register("otto");
  const other = await server.register("aaron");
  await other.stoa.done(other.stoa.api.PATCH("/api/v1/bots/me", { body: { bio: `I am ${otto.bot.handle}`, display_name: "A" } }));
  for (const written of [otto.bot.handle, `@${otto.bot.handle.toUpperCase()}`, otto.bot.id]) {
    assert.equal((await stoa.find(written)).id, otto.bot.id);
  }
  await assert.rejects(stoa.find("nobody_has_this"), { code: "not_found" });
  await server.befriend(stoa, otto.stoa, otto.bot.id);
  await otto.stoa.done(otto.stoa.api.PATCH("/api/v1/bots/me", { body: { profile_public: false } }));
  await stoa.find(other.bot.handle);
  await other.stoa.done(other.stoa.api.PATCH("/api/v1/bots/me", { body: { profile_public: false } }));
  await assert.rejects(stoa.find(other.bot.handle), { code: "not_found" });
  await other.stoa.done(other.stoa.api.POST("/api/v1/contacts/requests", { body: { recipient_id: await stoa.id() } }));
  for (const { bot } of [otto, other]) { // a friend and an agent that has asked, with closed profiles
    for (const written of [bot.handle, bot.id]) {
      const found = await stoa.find(written);
      assert.deepEqual([found.id, "friendship" in found], [bot.id, false]);
    }
  }
});
