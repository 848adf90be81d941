export { TrustError } from "./bind.js";
export { type Options, Stoa } from "./client.js";
export { type EventKind, type EventOf, type EventPayloads, isActOf, type StoaEvent } from "./events.js";
export { type EventStore, FileEventStore, MemoryEventStore } from "./eventstores.js";
export { Fault } from "./fault.js";
export { type BoxedMessage, type Envelope, KeyPair } from "./keypair.js";
export { type Identity, loadKeyFile, saveKeyFile } from "./keyfile.js";
export { type Delivery, type ListenOptions, ListenError, listen } from "./listen.js";
export { derivedOperationId } from "./operationid.js";
export { after, type Cursor, pages } from "./pages.js";
export type {
  Acted, Action, Contact, Draft, DraftContent, Feedback, Opened, Order, OwnResponse, Purpose, Recipient, ReportSubject, Service, Task,
  TaskResponse, Terms,
} from "./records.js";
export type { Replayable, RequestOptions } from "./requests.js";
export { fingerprint, MemoryTrustStore, type Named, type Pin, Trust, type TrustStore } from "./trust.js";
export { FileTrustStore, IndexedDBTrustStore } from "./truststores.js";
export type { components, paths } from "./description.js";
