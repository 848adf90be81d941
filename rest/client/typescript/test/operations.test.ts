import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Draft, Fault, totalOf } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

/** All items of a list. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}

test("an order of a priced service, with drafts before its delivery", async () => {
  const { alice, bob } = await server.friends();
  const offered = { title: "Sonnets", description: "Fourteen lines.", amount_minor: 1000 };
  const { service } = await bob.stoa.done(bob.stoa.api.POST("/api/v1/services", { body: offered }));
  const [shown] = await all(alice.stoa.servicesOf(bob.bot.id));
  assert.equal(shown!.id, service.id);
  const made = await alice.stoa.offer({
    title: shown!.title, description: "About rain.", deadline: "2999-01-01T00:00:00Z", amount_minor: shown!.amount_minor!,
    contractor_id: bob.bot.id, confirmed_total_minor: shown!.total_minor!, service_id: shown!.id,
  });
  assert.equal(made.service_id, service.id);
  await bob.stoa.act(made.id, "accept", 1);
  const order = await bob.stoa.act(made.id, "start", 2);

  const draft = await bob.stoa.sendDraft(order.id, { text: "Rain, rain." });
  assert.equal(draft.replayed, false);
  const again = await bob.stoa.sendDraft(order.id, { text: "Rain, rain." });
  assert.deepEqual([again.id, again.replayed], [draft.id, true]);
  const replied = await alice.stoa.replyToDraft(order.id, draft.id, "changes", "Less rain.");
  assert.deepEqual([replied.reply?.verdict, replied.reply?.text], ["changes", "Less rain."]);
  await bob.stoa.sendDraft(order.id, { text: "Rain." });
  const drafts: Draft[] = await all(alice.stoa.drafts(order.id));
  assert.deepEqual(drafts.map(({ number, reply }) => [number, reply?.verdict]), [[2, undefined], [1, "changes"]]);
});

test("own tasks and responses, which are changed and withdrawn", async () => {
  const [alice, bob] = [await server.register("alice"), await server.register("bob")];
  const body = { title: "Name a color", description: "One word.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000 };
  const { task } = await alice.stoa.done(alice.stoa.api.POST("/api/v1/tasks", { body }));
  await alice.stoa.done(alice.stoa.api.POST("/api/v1/tasks", { body: { ...body, title: "Name another" } }));
  assert.equal((await all(alice.stoa.ownTasks())).length, 2);
  const path = { task_id: task.id };
  await alice.stoa.done(alice.stoa.api.POST("/api/v1/tasks/{task_id}/close", { params: { path }, body: {} }));
  assert.deepEqual((await all(alice.stoa.ownTasks("closed"))).map(({ id }) => id), [task.id]);
  const [open] = await all(alice.stoa.ownTasks("open"));
  const { response } = await bob.stoa.done(bob.stoa.api.POST("/api/v1/tasks/{task_id}/responses", {
    params: { path: { task_id: open!.id } }, body: { text: "Green." },
  }));
  assert.equal((await bob.stoa.changeResponse(open!.id, response.id, { text: "Blue.", amount_minor: 900 })).amount_minor, 900);
  const [mine] = await all(bob.stoa.ownResponses());
  assert.deepEqual([mine!.text, mine!.task.title], ["Blue.", "Name another"]);
  assert.equal((await bob.stoa.withdrawResponse(open!.id, response.id)).state, "withdrawn");
});

test("a stranger is reported once and blocked", async () => {
  const [alice, eve] = [await server.register("alice"), await server.register("eve")];
  const report = await alice.stoa.report({ type: "bot", id: eve.bot.id }, "It asks for tokens.");
  assert.deepEqual([report.kind, report.subject?.id, report.state], ["report", eve.bot.id, "open"]);
  assert.equal((await alice.stoa.report({ type: "bot", id: eve.bot.id }, "Again.")).id, report.id);
  assert.equal((await alice.stoa.block(eve.bot.id)).state, "blocked");
});

test("ratings of an agent are listed", async () => {
  const { alice, bob } = await server.friends();
  const made = await bob.stoa.offer({
    title: "A sonnet", description: "Fourteen lines.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, customer_id: alice.bot.id,
  });
  await alice.stoa.act(made.id, "accept", 1, { confirmed_total_minor: made.total_minor });
  await bob.stoa.act(made.id, "start", 2);
  await bob.stoa.act(made.id, "deliver", 3, { result_text: "Rain." });
  await alice.stoa.act(made.id, "complete", 4);
  await alice.stoa.rate(made.id, 4, "Wet.");
  assert.deepEqual((await all(alice.stoa.ratings(bob.bot.id))).map(({ stars, text }) => [stars, text]), [[4, "Wet."]]);
});

test("a response with another reward than the task is selected by its own total", async () => {
  const [alice, bob] = [await server.register("alice"), await server.register("bob")];
  const body = { title: "Name a color", description: "One word.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000 };
  const { task } = await alice.stoa.done(alice.stoa.api.POST("/api/v1/tasks", { body }));
  const { response } = await bob.stoa.done(bob.stoa.api.POST("/api/v1/tasks/{task_id}/responses", {
    params: { path: { task_id: task.id } }, body: { text: "Green.", amount_minor: 1505 },
  }));
  await assert.rejects(alice.stoa.select(task.id, response.id, task.total_minor), { code: "price_changed" });
  const order = await alice.stoa.select(task.id, response.id, response.total_minor);
  assert.deepEqual([order.amount_minor, order.total_minor], [1505, 1656]);
});

test("totals are the server's, to the last minor unit", async () => {
  const { stoa } = await server.register("alice");
  for (const amount_minor of [1, 4, 5, 14, 15, 95, 1505, 123_456_789, 909_090_909_090]) {
    const { quote } = await stoa.done(stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor } }));
    assert.equal(totalOf(amount_minor, quote.fee_bps), quote.total_minor);
  }
  for (const [amount, bps, total] of [
    [1, 0, 1], [1, 4999, 1], [1, 5000, 2], [1, 10_000, 2],
    [999_999_999_999, 1, 1_000_099_999_999], [499_999_999_999, 9999, 999_949_999_998],
  ] as const) {
    assert.equal(totalOf(amount, bps), total, `${amount} at ${bps}`);
  }
});

test("find reports an empty name and an unknown agent", async () => {
  const { stoa } = await server.register("alice");
  const message = "find needs the id or the handle of an agent; this one is empty";
  for (const empty of ["", "@"]) {
    await assert.rejects(stoa.find(empty), { name: "TypeError", message });
  }
  await assert.rejects(stoa.find("@nobody_has_this"), {
    name: "Fault", code: "not_found", status: 404, message: "not_found: no agent @nobody_has_this is shown",
  });
  const { bot } = await server.register("bob");
  const found = await stoa.find(bot.id);
  assert.equal("friendship" in found ? found.friendship.status : "a brief", "none");
});

test("the message of a fault reads as a sentence", async () => {
  const { stoa } = await server.register("alice");
  const wrong = stoa.done(stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor: -1, text: "x" } as never }));
  await assert.rejects(wrong, ({ message }: Error) => !/[.:;] ?[;:]/.test(message) && /^[a-z_]+: .*: .*(amount_minor|text) /.test(message));
  assert.equal(new Fault("invalid_input", "The request is not valid.", undefined, { text: "is not a field", title: "is missing" }).message,
    "invalid_input: The request is not valid: text is not a field; title is missing");
  assert.equal(new Fault("not_found", "There is no such order.").message, "not_found: There is no such order.");
});
