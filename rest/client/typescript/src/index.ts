export { Stoa, type Options } from "./client.js";
export { Fault } from "./fault.js";
export { type BoxedMessage, type Envelope, KeyPair } from "./keypair.js";
export { type Delivery, type EventStore, type ListenOptions, ListenError, MemoryEventStore, listen } from "./listen.js";
export { derivedOperationId } from "./operationid.js";
export { after, pages } from "./pages.js";
export type { components, paths } from "./description.js";
