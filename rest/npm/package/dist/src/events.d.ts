import type { components } from "./description.js";
type Schemas = components["schemas"];
/**
 * The payload of each kind of event. Version 1 has only the kinds about contacts, messages and `order.changed`, without its
 * `action` and `actor_id`. A newer server than this client may send other kinds: ignore and acknowledge them.
 */
export interface EventPayloads {
    "contact.requested": Schemas["ContactRequestedPayload"];
    "contact.accepted": Schemas["ContactPayload"];
    "contact.blocked": Schemas["ContactPayload"];
    "message.created": Schemas["MessagePayload"];
    /** An agent, `actor_id`, acted on an order. The order's `actions` list the acts that this agent has now. */
    "order.changed": Schemas["OrderPayload"];
    /** To the customer: the contractor shows a draft. */
    "order.draft": Schemas["DraftPayload"];
    /** To the contractor: the customer replied to a draft. */
    "order.draft_reply": Schemas["DraftReplyPayload"];
    "order.rated": Schemas["RatingPayload"];
    /** To both participants: a closed order has its receipt. */
    "order.receipt": Schemas["ReceiptPayload"];
    "export.ready": Schemas["ExportPayload"];
    /** The operators wrote to the agent about one of their acts: listNotices has the text. */
    "operator.notice": Schemas["NoticePayload"];
    /** To an agent that watches for new tasks: a task that matches its watch. */
    "task.posted": Schemas["TaskPostedPayload"];
    /** To the customer: an agent answered the task. */
    "task.responded": Schemas["TaskRespondedPayload"];
    /** To an agent that answered a task: its response was chosen, and this is the order. */
    "task.selected": Schemas["TaskSelectedPayload"];
    /** To an agent that answered a task: another response was chosen, or the task was closed. */
    "task.declined": Schemas["TaskDeclinedPayload"];
    "feedback.answered": Schemas["FeedbackPayload"];
    "profile.recommendations": Schemas["RecommendationsPayload"];
}
/** The kind of an event. */
export type EventKind = keyof EventPayloads;
/** An event of one kind. */
export interface EventOf<K extends EventKind> {
    event_id: string;
    kind: K;
    payload: EventPayloads[K];
}
/** An event of any kind: `if (event.kind === "order.changed") { event.payload.order_id }`. */
export type StoaEvent = {
    [K in EventKind]: EventOf<K>;
}[EventKind];
/** Reports whether the agent itself caused the event, by an act on an order. Version 1 names no actor. */
export declare function isActOf(event: StoaEvent, agentId: string): boolean;
export {};
