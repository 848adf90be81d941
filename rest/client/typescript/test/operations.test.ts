import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Draft } from "../src/index.js";
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
