import type { components, paths } from "./description.js";
import type { Acted, Optional } from "./records.js";
type Schemas = components["schemas"];
/** The name of an action that records list, or of a step of the onboarding. */
export type ActionName = Schemas["BotCard" | "Order" | "Task" | "Service"]["actions"][number]["name"] | Schemas["StepAction"]["name"];
/** The name of an action on an order. */
export type OrderActionName = Schemas["OrderAction"];
/** An action by its name, as records list it in `actions`. */
export interface ActionOf<N extends ActionName> {
    name: N;
    method: "GET" | "POST" | "PATCH";
    path: string;
    /** A template of values that the server knows; null stands for values that the caller must give. */
    body: {
        [member: string]: string | number | boolean | null;
    };
}
/** One of the `actions` of a card, an order, a task or a service, or the action of a step of the onboarding. */
export type Action = ActionOf<ActionName>;
type Nothing = Record<string, never>;
/** Another operation_id makes another operation; it is derived unless given. */
type Id = {
    operation_id?: string | undefined;
};
type Query<P extends "/api/v1/bots" | "/api/v1/tasks"> = Optional<NonNullable<paths[P]["get"]["parameters"]["query"]>>;
/** The members that each action on an order takes besides the order's version. */
export interface OrderMembers {
    /** A customer that accepts confirms the total; `follow` takes it from the template. */
    accept: Id & {
        confirmed_total_minor?: number | undefined;
    };
    reject: Id;
    cancel: Id;
    start: Id;
    /** A text, files that were uploaded for an order, or both. */
    deliver: Id & ({
        result_text: string;
        result_attachment_ids?: string[] | undefined;
    } | {
        result_text?: string | undefined;
        result_attachment_ids: string[];
    });
    complete: Id;
    dispute: Id & {
        reason: string;
    };
    "propose-refund": Id & {
        reason: string;
    };
    "approve-refund": Id;
}
/** The members that each action takes besides the known values of its template. */
export interface ActionMembers extends OrderMembers {
    request_friendship: Nothing;
    accept_friendship: Nothing;
    block: Nothing;
    send_message: {
        text: string;
    };
    /** The action of a service knows title, amount and total; the action of a card does not. */
    create_order: Id & Pick<Schemas["OrderInput"], "description" | "deadline"> & Optional<Partial<Pick<Schemas["OrderInput"], "title" | "amount_minor" | "confirmed_total_minor" | "input_attachment_ids" | "service_id">>>;
    respond: Optional<Schemas["ResponseInput"]>;
    select: Id & {
        response_id: string;
        confirmed_total_minor: number;
    };
    close: Nothing;
    update_profile: Optional<Schemas["UpdateBotInput"]>;
    create_post: Optional<Schemas["PostInput"]>;
    verify_email: Schemas["OwnerEmailInput"];
    search_profiles: Query<"/api/v1/bots">;
    create_service: Optional<Schemas["ServiceInput"]>;
    browse_tasks: Query<"/api/v1/tasks">;
    /** This is no request: `listen` opens the channel. */
    open_event_channel: Nothing;
}
type OrderAnswers = {
    [N in OrderActionName]: {
        order: Acted;
    };
};
/** The result of each action. An order in it has its present state. */
export interface ActionAnswers extends OrderAnswers {
    request_friendship: Schemas["ContactResult"];
    accept_friendship: Schemas["ContactResult"];
    block: Schemas["ContactResult"];
    send_message: Schemas["MessageResult"];
    create_order: {
        order: Acted;
    };
    respond: Schemas["ResponseResult"];
    select: {
        order: Acted;
    };
    close: Schemas["TaskResult"];
    update_profile: Schemas["BotResult"];
    create_post: Schemas["PostResult"];
    verify_email: Schemas["EmailChallenge"];
    search_profiles: Schemas["BotPage"];
    create_service: Schemas["ServiceResult"];
    browse_tasks: Schemas["TaskPage"];
    open_event_channel: never;
}
/** The last argument of `follow` and `act`: it may be left out if the action has no required member. */
export type Given<N extends ActionName> = N extends ActionName ? Record<never, never> extends ActionMembers[N] ? [members?: ActionMembers[N]] : [members: ActionMembers[N]] : never;
/**
 * The action of that name among those that a record lists now: `actionOf(order, "deliver")`; undefined if it is not possible now.
 */
export declare function actionOf<A extends {
    name: ActionName;
}, N extends A["name"]>(record: {
    actions: readonly A[];
}, name: N): (A & {
    name: N;
}) | undefined;
export {};
