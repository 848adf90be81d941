import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Action, type ActionName, actionOf, type ActionOf, after, type EventKind, type EventPayloads, isActOf, listen, MemoryTrustStore,
  type Order, pages, Stoa, type StoaEvent, type Terms,
} from "../src/index.js";

// The compiler's verdicts: a line under @ts-expect-error that compiles is an error.

const terms = { title: "A sonnet", description: "Fourteen lines.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000 };
const id = "01a20005-3b02-7a01-8c6e-2a4c9d1f0b55";

test("an offer names exactly one of contractor_id and customer_id, and a customer confirms the total", () => {
  const accepted: Terms[] = [
    { ...terms, contractor_id: id, confirmed_total_minor: 1100, service_id: id }, { ...terms, customer_id: id },
  ];
  // @ts-expect-error both sides
  const both: Terms = { ...terms, contractor_id: id, customer_id: id, confirmed_total_minor: 1100 };
  // @ts-expect-error no side
  const neither: Terms = { ...terms, confirmed_total_minor: 1100 };
  // @ts-expect-error a customer that confirms nothing
  const unconfirmed: Terms = { ...terms, contractor_id: id };
  assert.equal([...accepted, both, neither, unconfirmed].length, 5);
});

/** A connection that fails on every request: calls on it are only compiled. */
const failing = () => Promise.reject(new Error("no network"));
const stoa = new Stoa({ origin: "http://stoa.example", trust: new MemoryTrustStore(), attempts: 1, fetch: failing });
const tried = (...calls: Promise<unknown>[]) => Promise.allSettled(calls);

test("an action on an order is named, and takes its own members", async () => {
  const started = await tried(
    stoa.act(id, "start", 2), stoa.act(id, "deliver", 3, { result_text: "Rain." }),
    stoa.act(id, "deliver", 3, { result_attachment_ids: [id] }),
    stoa.act(id, "accept", 1, { confirmed_total_minor: 1100 }), stoa.act(id, "dispute", 3, { reason: "Wet.", operation_id: id }),
    // @ts-expect-error no action on an order
    stoa.act(id, "finish", 3),
    // @ts-expect-error a string may be anything
    stoa.act(id, "start" as string, 3),
    // @ts-expect-error delivers nothing
    stoa.act(id, "deliver", 3),
    // @ts-expect-error delivers nothing
    stoa.act(id, "deliver", 3, {}),
    // @ts-expect-error a member with another name
    stoa.act(id, "deliver", 3, { text: "Rain." }),
    // @ts-expect-error a member with another type
    stoa.act(id, "deliver", 3, { result_attachment_ids: id }),
    // @ts-expect-error a member of another action
    stoa.act(id, "start", 2, { reason: "Wet." }),
    // @ts-expect-error no reason
    stoa.act(id, "dispute", 3),
    // @ts-expect-error a total is a number
    stoa.act(id, "accept", 1, { confirmed_total_minor: "1100" }),
  );
  assert.ok(started.every(({ status }) => status === "rejected"));
});

test("the name of an action decides the types of its members and its answer", async () => {
  const body = {}, method = "POST", path = "/api/v1/x";
  const made = <N extends ActionName>(name: N): ActionOf<N> => ({ name, method, path, body });
  const order = async (): Promise<Order> => (await stoa.follow(made("deliver"), { result_text: "Rain." })).order;
  const status = async (): Promise<boolean> => (await stoa.follow(made("request_friendship"))).contact.requested_by_me;
  const post = async (): Promise<string> => (await stoa.follow(made("create_post"), { text: "x" })).post.id;
  const stored = async () => (await stoa.follow(made("select"), { response_id: id, confirmed_total_minor: 1 })).order.stored?.state;
  const calls = await tried(
    order(), status(), post(), stored(),
    // @ts-expect-error no response is chosen
    stoa.follow(made("select"), { confirmed_total_minor: 1 }),
    // @ts-expect-error a member of another action
    stoa.follow(made("block"), { text: "x" }),
    // @ts-expect-error nothing is given
    stoa.follow(made("send_message")),
    // @ts-expect-error the answer has no post
    stoa.follow(made("close")).then(({ post }) => post),
    // @ts-expect-error no action has that name
    stoa.follow({ name: "vanish", method, path, body }),
  );
  assert.ok(calls.every(({ status }) => status === "rejected"));
  const lists = {} as { [K in "Order" | "Task" | "Service" | "BotCard"]: import("../src/index.js").components["schemas"][K] };
  const step = {} as import("../src/index.js").components["schemas"]["StepAction"];
  const names = (...all: readonly Action[][]): ActionName[] => all.flat().map(({ name }) => name);
  const typed = () => {
    const { Order: o, Task: t, Service: s, BotCard: c } = lists;
    const found: (ActionName | undefined)[] = [
      actionOf(o, "deliver")?.name, actionOf(t, "respond")?.name, actionOf(s, "create_order")?.name,
    ];
    // @ts-expect-error a service has no such action
    actionOf(s, "deliver");
    return [found, names(o.actions, t.actions, s.actions, c.actions, [step])];
  };
  assert.equal(typeof typed, "function");
});

test("optional members may be undefined", async () => {
  const a: { origin: string; token?: string } = { origin: "http://stoa.example" };
  const none = new Stoa({
    origin: a.origin, token: a.token, keys: undefined, id: undefined, trust: undefined, fetch: undefined,
    latestToken: undefined, attempts: undefined, firstWait: undefined, longestWait: undefined,
  });
  assert.equal(none.token, undefined);
  const ended = AbortSignal.abort();
  for await (const { event } of listen(none, { signal: ended, version: undefined, own: undefined, store: undefined, by: undefined })) {
    assert.fail(event.kind);
  }
  const bodies: string[] = [];
  const seen = new Stoa({ origin: "http://stoa.example", attempts: 1, fetch: async (request) => {
    bodies.push(await (request as Request).text());
    return Response.json({ draft: {} });
  } });
  await seen.sendDraft(id, { text: "Rain.", attachment_ids: undefined, operation_id: undefined });
  await seen.sendDraft(id, { text: "Rain." });
  assert.match(bodies[0]!, /"operation_id":"[0-9a-f-]{36}"/);
  assert.equal(bodies[0], bodies[1]);
  const offered: Terms = {
    ...terms, customer_id: id, contractor_id: undefined, confirmed_total_minor: undefined, service_id: undefined,
    operation_id: undefined,
  };
  await tried(stoa.changeResponse(id, id, { text: undefined, amount_minor: 1 }), stoa.offer(offered));
});

test("the kind of an event decides the type of its payload", () => {
  const named = (event: StoaEvent): string => {
    switch (event.kind) {
      case "order.changed":
        return event.payload.status;
      case "message.created":
        return event.payload.message.nonce;
      case "order.rated":
        return String(event.payload.stars);
      case "task.responded":
        return event.payload.bot_id;
      case "task.selected":
        return event.payload.order_id;
      case "order.draft_reply": {
        const verdict: "fine" | "changes" = event.payload.verdict;
        return verdict;
      }
      case "feedback.answered":
        return event.payload.feedback_id;
      default:
        // @ts-expect-error not every other event is about an order
        return String(event.payload.order_id);
    }
  };
  const kinds: Record<EventKind, keyof EventPayloads> = {
    "contact.requested": "contact.requested", "contact.accepted": "contact.accepted", "contact.blocked": "contact.blocked",
    "message.created": "message.created", "order.changed": "order.changed", "order.rated": "order.rated",
    "profile.recommendations": "profile.recommendations", "order.draft": "order.draft", "order.draft_reply": "order.draft_reply",
    "task.posted": "task.posted", "task.responded": "task.responded", "task.selected": "task.selected", "task.declined": "task.declined",
    "feedback.answered": "feedback.answered", "order.receipt": "order.receipt", "export.ready": "export.ready", "operator.notice": "operator.notice",
  };
  assert.equal(named({ event_id: id, kind: "order.rated", payload: { order_id: id, rating_id: id, stars: 4 } }), "4");
  const acted: StoaEvent = {
    event_id: id, kind: "order.changed", payload: { order_id: id, status: "funded", version: 2, action: "accept", actor_id: id },
  };
  assert.ok(isActOf(acted, id));
  assert.ok(!isActOf({ event_id: id, kind: "profile.recommendations", payload: { bot_id: id, revision: 1 } }, id));
  // @ts-expect-error no step of an order
  const unknown: StoaEvent = { ...acted, payload: { ...acted.payload, action: "vanish" } };
  assert.equal(Object.keys(kinds).length, 17 + Number(!unknown));
});

test("lists are iterated without type annotations", async () => {
  const send: typeof fetch = async (request) => {
    const { pathname, searchParams } = new URL((request as Request).url);
    const first = !searchParams.get("before") && searchParams.get("page") !== "2";
    const body = pathname === "/api/v1/services" ? { services: [{ title: "s" }], next_page: first ? 2 : null }
      : pathname === "/api/v1/wallet/history" ? { entries: [{ id: 1 }], next_before: first ? 1 : null }
      : { contacts: [{ id }], next_before: first ? id : null };
    return Response.json(body);
  };
  const stoa = new Stoa({ origin: "http://stoa.example", trust: new MemoryTrustStore(), fetch: send });
  const seen: (string | number)[] = [];
  for await (const contact of after((before) => stoa.done(stoa.api.GET("/api/v1/contacts", { params: { query: { before } } })), "contacts")) {
    seen.push(contact.id);
  }
  for await (const { id } of after((before) => stoa.done(stoa.api.GET("/api/v1/wallet/history", { params: { query: { before } } })), "entries")) {
    seen.push(id);
  }
  for await (const service of pages((page) => stoa.done(stoa.api.GET("/api/v1/services", { params: { query: { page } } })), "services")) {
    seen.push(service.title);
  }
  assert.deepEqual(seen, [id, id, 1, 1, "s", "s"]);
});
