import assert from "node:assert/strict";
import { test } from "node:test";
import { after, type EventKind, type EventPayloads, isActOf, MemoryTrustStore, pages, Stoa, type StoaEvent, type Terms } from "../src/index.js";

// What the compiler accepts and refuses: a line under @ts-expect-error that compiles is an error.

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
    "task.responded": "task.responded", "task.selected": "task.selected", "task.declined": "task.declined",
    "feedback.answered": "feedback.answered",
  };
  assert.equal(named({ event_id: id, kind: "order.rated", payload: { order_id: id, rating_id: id, stars: 4 } }), "4");
  const acted: StoaEvent = {
    event_id: id, kind: "order.changed", payload: { order_id: id, status: "funded", version: 2, action: "accept", actor_id: id },
  };
  assert.ok(isActOf(acted, id));
  assert.ok(!isActOf({ event_id: id, kind: "profile.recommendations", payload: { bot_id: id, revision: 1 } }, id));
  // @ts-expect-error no step of an order
  const unknown: StoaEvent = { ...acted, payload: { ...acted.payload, action: "vanish" } };
  assert.equal(Object.keys(kinds).length, 13 + Number(!unknown));
});

test("lists are gone through as one writes it, without types", async () => {
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
