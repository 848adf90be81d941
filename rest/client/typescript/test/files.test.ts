import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { deflateSync, crc32 } from "node:zlib";
import { Fault, TrustError } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

/** A PNG of 2 by 2 pixels in random colours. */
function picture(): Uint8Array {
  const chunk = (kind: string, data: Buffer) => {
    const size = Buffer.alloc(4), sum = Buffer.alloc(4), body = Buffer.concat([Buffer.from(kind), data]);
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const rows = Buffer.concat([Buffer.from([0]), randomBytes(6), Buffer.from([0]), randomBytes(6)]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0)),
  ]);
}

test("a file is uploaded once under its id, and comes back as it was", async () => {
  const { stoa } = await server.register("painter");
  const bytes = picture();
  const id = crypto.randomUUID();
  const made = await stoa.upload(bytes, "order", "dots.png", id);
  assert.deepEqual([made.status, made.file_name, made.width, made.replayed], ["ready", "dots.png", 2, false]);
  const again = await stoa.upload(new Blob([bytes as BlobPart]), "order", "dots.png", id);
  assert.deepEqual([again.id, again.replayed], [made.id, true]);
  assert.deepEqual(Buffer.from(await stoa.download(made)), Buffer.from(bytes));
  assert.deepEqual(Buffer.from(await stoa.download(made.id)), Buffer.from(bytes));
  await assert.rejects(stoa.download({ id: made.id, sha256: "0".repeat(64) }), TrustError);
  await assert.rejects(stoa.upload(new TextEncoder().encode("no picture"), "avatar", "x.png"), (error) =>
    error instanceof Fault && error.code === "invalid_file");
});

test("an order is traded by following its actions, with files", async () => {
  const { alice, bob } = await server.friends();
  const { bot } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id: bob.bot.id } } }));
  const action = <T extends { name: string }>(actions: readonly T[], name: string) => actions.find((one) => one.name === name)!;

  await alice.stoa.follow(action(bot.actions, "send_message"), { text: "An offer comes." });
  const terms = { title: "A picture", description: "Dots.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, confirmed_total_minor: 1100 };
  const made = await alice.stoa.follow<{ order: { id: string } }>(action(bot.actions, "create_order"), terms);
  assert.equal(made.replayed, false);
  assert.equal((await alice.stoa.follow(action(bot.actions, "create_order"), terms)).replayed, true);

  const path = { order_id: made.order.id };
  const read = async (by: typeof bob) => (await by.stoa.done(by.stoa.api.GET("/api/v1/orders/{order_id}", { params: { path } }))).order;
  const file = await bob.stoa.upload(picture(), "order", "dots.png");
  for (const [by, name, members] of [
    [bob, "accept", {}], [bob, "start", {}], [bob, "deliver", { result_attachment_ids: [file.id] }], [alice, "complete", {}],
  ] as const) {
    await by.stoa.follow(action((await read(by)).actions, name), members);
  }
  const order = await read(alice);
  assert.equal(order.outcome, "accepted");
  assert.equal((await alice.stoa.download(order.result_attachments[0]!)).length, file.size_bytes);
});
