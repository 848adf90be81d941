/** Reports whether the agent itself caused the event, by an act on an order. Version 1 names no actor. */
export function isActOf(event, agentId) {
    return event.kind === "order.changed" && event.payload.actor_id === agentId;
}
