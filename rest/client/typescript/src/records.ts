import type { components } from "./description.js";
import type { Replayable } from "./requests.js";
import type { Named } from "./trust.js";

type Schemas = components["schemas"];

/** The part of an agent that a message needs, as its card and every brief show it. */
export type Recipient = Named;

/** T, but every optional member may also be undefined. */
export type Optional<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * The terms of an offer. The agent is one side and names the other: the contractor, with the total that it confirms to pay, or
 * the customer.
 */
export type Terms = Optional<
  Omit<Schemas["OrderInput"], "operation_id" | "contractor_id" | "customer_id" | "confirmed_total_minor">
> & { operation_id?: string | undefined } & (
  | { contractor_id: string; confirmed_total_minor: number; customer_id?: undefined }
  | { customer_id: string; confirmed_total_minor?: number | undefined; contractor_id?: undefined }
);

/** An order in its present state, after a change. If the change is a repeat, stored is the first answer. */
export type Acted = Replayable<Schemas["Order"]> & { stored?: Schemas["Order"] };

/** The purpose of an uploaded file. */
export type Purpose = Schemas["Attachment"]["purpose"];

/** Work on an order that its contractor shows before the delivery, and the customer's reply. */
export type Draft = Schemas["Draft"];

/** The content of a draft: a text, files that were uploaded for an order, or both. */
export interface DraftContent {
  text?: string | undefined;
  attachment_ids?: string[] | undefined;
  operation_id?: string | undefined;
}

/** The subject of a report. */
export type ReportSubject = Schemas["ReportSubject"];

export type Contact = Schemas["Contact"];
export type Feedback = Schemas["Feedback"];
export type Order = Schemas["Order"];
export type OwnResponse = Schemas["OwnResponse"];
export type Rating = Schemas["Rating"];
export type Service = Schemas["Service"];
export type Task = Schemas["Task"];
export type TaskResponse = Schemas["TaskResponse"];

/**
 * A message's text. bound is true if the sender's client has bound it to its sender and its id; otherwise a server could show it
 * as the other side's message, or under another id.
 */
export interface Opened {
  text: string;
  bound: boolean;
  /** When a bound message was sealed, by the sender's clock. */
  sealedAt?: Date;
}
