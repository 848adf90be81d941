import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { deflateSync, crc32 } from "node:zlib";
import { actionOf, Fault, TrustError } from "../src/index.js";
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

test("a file is uploaded once under its id, and comes back unchanged", async () => {
  const { stoa } = await server.register("painter");
  const bytes = picture();
  const id = crypto.randomUUID();
  const made = await stoa.upload(bytes, "order", "dots.png", id);
  assert.deepEqual([made.status, made.file_name, made.width, made.replayed], ["ready", "dots.png", 2, false]);
  const again = await stoa.upload(new Blob([bytes as BlobPart]), "order", "dots.png", id);
  assert.deepEqual([again.id, again.replayed], [made.id, true]);
  assert.deepEqual(Buffer.from(await stoa.download(made)), Buffer.from(bytes));
  assert.deepEqual(Buffer.from(await stoa.download(made.id)), Buffer.from(bytes));
  await assert.rejects(stoa.upload("dots.png" as never, "order", "dots.png"), /needs the bytes of dots.png/);
  await assert.rejects(stoa.upload(bytes, "order", undefined as never), /the name of the file/);
  await assert.rejects(stoa.download({ id: made.id, sha256: "0".repeat(64) }), TrustError);
  await assert.rejects(stoa.upload(new TextEncoder().encode("no picture"), "avatar", "x.png"), (error) =>
    error instanceof Fault && error.code === "invalid_file");
});

test("an order is traded by following its actions, with files", async () => {
  const { alice, bob } = await server.friends();
  const { bot } = await alice.stoa.done(alice.stoa.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id: bob.bot.id } } }));

  const { message } = await alice.stoa.follow(actionOf(bot, "send_message")!, { text: "An offer comes." });
  assert.equal(message.recipient_id, bot.id);
  const terms = { title: "A picture", description: "Dots.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, confirmed_total_minor: 1100 };
  const made = await alice.stoa.follow(actionOf(bot, "create_order")!, terms);
  assert.equal(made.replayed, false);
  assert.equal((await alice.stoa.follow(actionOf(bot, "create_order")!, terms)).replayed, true);

  const path = { order_id: made.order.id };
  const read = async (by: typeof bob) => (await by.stoa.done(by.stoa.api.GET("/api/v1/orders/{order_id}", { params: { path } }))).order;
  const file = await bob.stoa.upload(picture(), "order", "dots.png");
  await bob.stoa.follow(actionOf(await read(bob), "accept")!);
  await bob.stoa.follow(actionOf(await read(bob), "start")!, {});
  assert.equal(actionOf(await read(bob), "accept"), undefined);
  const delivered = await bob.stoa.follow(actionOf(await read(bob), "deliver")!, { result_attachment_ids: [file.id] });
  assert.deepEqual(delivered.order.result_attachments.map(({ id }) => id), [file.id]);
  await alice.stoa.follow(actionOf(await read(alice), "complete")!);
  const order = await read(alice);
  assert.equal(order.outcome, "accepted");
  assert.equal((await alice.stoa.download(order.result_attachments[0]!)).length, file.size_bytes);
});

test("the same bytes are one file, even for the server's tools", async () => {
  const { stoa, token } = await server.register("painter");
  const bytes = picture();
  const made = await stoa.upload(bytes, "order", "dots & <dots> – über.png");
  for (const same of [bytes, new Blob([bytes as BlobPart]), new Uint8Array(bytes).buffer]) {
    const again = await stoa.upload(same, "order", "dots & <dots> – über.png");
    assert.deepEqual([again.id, again.replayed], [made.id, true]);
  }
  for (const other of [
    await stoa.upload(bytes, "portfolio", "dots & <dots> – über.png"), await stoa.upload(bytes, "order", "dots.png"),
    await stoa.upload(picture(), "order", "dots.png"), await stoa.upload(bytes, "order", "dots.png", crypto.randomUUID()),
  ]) {
    assert.equal(other.replayed, false);
  }
  const uploading = { purpose: "order", file_name: "dots & <dots> – über.png", base64: Buffer.from(bytes).toString("base64") };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "upload_file", arguments: uploading } };
  const answer = await fetch(`${server.origin}/mcp`, {
    method: "POST", body: JSON.stringify(call), headers: {
      Authorization: `Bearer ${token}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    },
  });
  const { result } = (await answer.json()) as { result: { structuredContent: { attachment: { id: string } } } };
  assert.equal(result.structuredContent.attachment.id, made.id);
});

test("a file that is bound already is uploaded again for another order, and a repeat of that order is the same order", async () => {
  const { alice, bob } = await server.friends();
  const brief = picture();
  const terms = {
    description: "Dots.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id: bob.bot.id, confirmed_total_minor: 1100,
  };
  const offer = async (title: string) => {
    const file = await alice.stoa.upload(brief, "order", "brief.png");
    return alice.stoa.offer({ ...terms, title, input_attachment_ids: [file.id] });
  };
  const files = new Map<string, string>();
  for (const title of ["one", "two", "three"]) {
    const made = await offer(title);
    assert.equal(made.replayed, false);
    files.set(made.id, made.input_attachments[0]!.id);
    const again = await offer(title);
    assert.deepEqual([again.id, again.replayed, again.input_attachments[0]!.id], [made.id, true, files.get(made.id)]);
  }
  assert.equal(new Set(files.values()).size, 3);
  assert.equal(files.size, 3);

  // A draft's file is delivered with its order, and uploaded again for another order.
  const sketch = picture();
  const delivered: string[][] = [];
  for (const id of [...files.keys()].slice(0, 2)) {
    await bob.stoa.act(id, "accept", 1);
    await bob.stoa.act(id, "start", 2);
    const draft = await bob.stoa.sendDraft(id, { attachment_ids: [(await bob.stoa.upload(sketch, "order", "sketch.png")).id] });
    const kept = draft.attachments[0]!.id;
    const order = await bob.stoa.act(id, "deliver", 3, { result_attachment_ids: [kept] });
    assert.deepEqual(order.result_attachments.map(({ id }) => id), [kept]);
    delivered.push([kept]);
  }
  assert.notDeepEqual(delivered[0], delivered[1]);

  // A bound file whose bytes the client does not have is refused.
  const refused = alice.stoa.offer({ ...terms, title: "four", input_attachment_ids: [[...files.values()][0]!] });
  await assert.rejects(refused, { code: "attachment_already_bound" });
});

test("bytes that the server has deleted are uploaded again, and two bound files of one offer are both uploaded again", async () => {
  let gone = "";
  const { alice, bob } = await server.friends({ fetch: async (input, init) => {
    const answer = await fetch(input, init);
    const text = await answer.text();
    const shown = gone && text.includes(gone) ? text.replace('"available":true', '"available":false') : text;
    return new Response(shown, { status: answer.status, headers: answer.headers });
  } });
  const [one, two] = [picture(), picture()];
  const upload = (bytes: Uint8Array) => alice.stoa.upload(bytes, "order", "brief.png");
  gone = (await upload(one)).id;
  const again = await upload(one);
  assert.notEqual(again.id, gone);
  assert.deepEqual([again.available, (await upload(one)).id], [true, again.id]);

  const offer = async (title: string) => alice.stoa.offer({
    title, description: "Dots.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id: bob.bot.id,
    confirmed_total_minor: 1100, input_attachment_ids: [(await upload(one)).id, (await upload(two)).id],
  });
  const used = [await offer("first"), await offer("second")].flatMap(({ input_attachments: files }) => files.map(({ id }) => id));
  assert.equal(new Set(used).size, 4);
});
