export {
  type Action, type ActionAnswers, type ActionMembers, type ActionName, actionOf, type ActionOf, type OrderActionName,
} from "./actions.js";
export { TrustError } from "./bind.js";
export { type NewOptions, type Options, type Passport, Stoa } from "./client.js";
export { type EventKind, type EventOf, type EventPayloads, isActOf, type StoaEvent } from "./events.js";
export { type EventStore, FileEventStore, MemoryEventStore } from "./eventstores.js";
export { Fault } from "./fault.js";
export { type BoxedMessage, type Envelope, KeyPair } from "./keypair.js";
export { type Identity, loadKeyFile, saveKeyFile } from "./keyfile.js";
export { type Delivery, type ListenOptions, ListenError, listen } from "./listen.js";
export type { AcceptedEpoch } from "./epoch.js";
export { KeyLog, type LogChecks } from "./meet.js";
export { MemoryNonceStore, Nonces, type NonceStore, type Opening } from "./nonces.js";
export { FileNonceStore, IndexedDBNonceStore } from "./noncestores.js";
export { derivedOperationId } from "./operationid.js";
export { after, type Cursor, pages } from "./pages.js";
export { type ReceiptFinding, type ReceiptTrust, verifyReceipt } from "./receipts.js";
export type {
  Acted, Contact, Draft, DraftContent, Feedback, Opened, Order, OwnResponse, Purpose, Rating, Recipient, ReportSubject, Service,
  Task, TaskResponse, Terms,
} from "./records.js";
export type { Replayable, RequestOptions } from "./requests.js";
export { totalOf } from "./total.js";
export {
  fingerprint, type KeptHead, type LogLine, MemoryTrustStore, type Named, type Pin, Trust, type TrustLine, type TrustStore,
} from "./trust.js";
export { FileTrustStore, IndexedDBTrustStore } from "./truststores.js";
export type { components, paths } from "./description.js";
