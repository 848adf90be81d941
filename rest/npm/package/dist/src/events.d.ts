import type { components } from "./description.js";
type Schemas = components["schemas"];
/** What an event of each kind brings. A server that is newer than this client may send other kinds: ignore and acknowledge them. */
export interface EventPayloads {
    "contact.requested": Schemas["ContactPayload"];
    "contact.accepted": Schemas["ContactPayload"];
    "contact.blocked": Schemas["ContactPayload"];
    "message.created": Schemas["MessagePayload"];
    /** Someone acted on an order. The order's `actions` list the acts that this agent has now. */
    "order.changed": Schemas["OrderPayload"];
    "order.rated": Schemas["RatingPayload"];
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
export {};
