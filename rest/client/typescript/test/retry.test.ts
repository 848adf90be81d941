import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Fault, Stoa } from "../src/index.js";

/** Makes a request to a server that gives these answers in turn, and returns the number of requests. */
async function seen(answers: ((request: IncomingMessage, response: ServerResponse) => void)[], ask: (stoa: Stoa) => Promise<unknown>) {
  let count = 0;
  const server = createServer((request, response) => answers[Math.min(count++, answers.length - 1)]!(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stoa = new Stoa({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t", firstWait: 0.001, attempts: 4 });
  let fault: unknown;
  await ask(stoa).catch((error: unknown) => {
    fault = error;
  });
  server.closeAllConnections();
  server.close();
  return { count, fault };
}

const fine = (_: IncomingMessage, response: ServerResponse) => void response.setHeader("Content-Type", "application/json").end("{}");
const broken = (request: IncomingMessage) => void request.socket.destroy();
const refuse = (status: number) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { "Content-Type": "application/json", "Retry-After": "0" }).end('{"error": {"code": "x", "message": "y"}}');

const read = (stoa: Stoa) => stoa.done(stoa.api.GET("/api/v1/wallet"));
const post = (stoa: Stoa) => stoa.done(stoa.api.POST("/api/v1/posts", {
  body: { kind: "update", visibility: "public", title: "", text: "once", attachment_ids: [] },
}));
const act = (stoa: Stoa) => stoa.done(stoa.api.POST("/api/v1/orders/{order_id}/accept", {
  params: { path: { order_id: "01a20005-3b02-7a01-8c6e-2a4c9d1f0b55" } },
  body: { operation_id: "01a20005-3b02-7a01-8c6e-2a4c9d1f0b55", expected_version: 1 },
}));

const upload = (stoa: Stoa) => stoa.upload(new Uint8Array([1]), "portfolio", "one.png");
const busy = (reason: string) => (request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  response.writeHead(409, { "Content-Type": "application/json", ...(reason === "unfinished" ? { "Retry-After": "0" } : {}) });
  response.end(JSON.stringify({ error: { code: "upload_unavailable", message: "y", fields: { upload_id: reason } } }));
};
const stored = (request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  response.setHeader("Content-Type", "application/json").end('{"attachment": {}}');
};

const cases: [string, (stoa: Stoa) => Promise<unknown>, Parameters<typeof seen>[0], number, string | undefined][] = [
  ["a read without an answer is repeated", read, [broken, broken, fine], 3, undefined],
  ["a read that is answered 503 is repeated", read, [refuse(503), fine], 2, undefined],
  ["a request with an operation id is repeated", act, [broken, refuse(503), fine], 3, undefined],
  ["a post without an answer is not repeated", post, [broken, fine], 1, "unanswered"],
  ["a post that is answered 503 is not repeated", post, [refuse(503), fine], 1, "x"],
  ["a post over a limit did nothing, and is repeated", post, [refuse(429), fine], 2, undefined],
  ["a refusal is not repeated", act, [refuse(409), fine], 1, "x"],
  ["an upload without an answer is repeated", upload, [broken, stored], 2, undefined],
  ["an upload waits while its file is unfinished, longer than other repeats", upload, [...Array<typeof stored>(9).fill(busy("unfinished")), stored], 10, undefined],
  ["an upload of a rejected file is not repeated", upload, [busy("rejected"), stored], 1, "upload_unavailable"],
  ["repeats end", read, [refuse(503)], 4, "x"],
];
for (const [name, ask, answers, count, code] of cases) {
  test(name, async () => {
    const got = await seen(answers, ask);
    assert.equal(got.count, count);
    assert.equal(got.fault instanceof Fault ? got.fault.code : undefined, code);
  });
}

test("a change without an answer is repeated if the vectors say so", async () => {
  const rows = JSON.parse(readFileSync(new URL("../../../testdata/repeats.json", import.meta.url), "utf8")) as {
    method: "post"; path: "/api/v1/orders"; body: string; again: boolean;
  }[];
  assert.ok(rows.length > 40);
  for (const { method, path, body, again } of rows) {
    for (const lost of [() => Promise.reject(new Error("lost")), () => Promise.resolve(new Response("{}", { status: 500 }))]) {
      let count = 0;
      const stoa = new Stoa({
        origin: "http://stoa.example", firstWait: 0.001, attempts: 2, fetch: () => ++count === 1 ? lost() : Promise.resolve(new Response("{}")),
      });
      const sent = body === "" ? {} : { body: JSON.parse(body) as never };
      await stoa.api.request(method.toLowerCase() as "post", `/api/v1${path}` as "/api/v1/orders", sent as never).catch(() => undefined);
      assert.equal(count, again ? 2 : 1, `${method} ${path} ${body}`);
    }
  }
});
