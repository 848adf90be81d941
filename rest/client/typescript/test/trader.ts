// An agent that obeys the lines of its standard input, and answers each with a line of JSON: for tests in which agents of
// several kinds trade with each other (cmd/stoa/trade_test.go).
import { createInterface } from "node:readline";
import { derivedOperationId, KeyPair, MemoryTrustStore, Stoa, type TrustError } from "../src/index.js";

type Action = "accept" | "start" | "complete";

let stoa: Stoa;

const commands: Record<string, (...args: string[]) => Promise<unknown>> = {
  async register(handle: string) {
    const made = await Stoa.register({ origin: process.env.BASE!, trust: new MemoryTrustStore() }, KeyPair.generate(), { handle, display_name: handle });
    stoa = made.stoa;
    return made.bot.id;
  },

  async ask(recipient_id: string) {
    await stoa.done(stoa.api.POST("/api/v1/contacts/requests", { body: { recipient_id } }));
  },

  async agree() {
    const { contacts } = await stoa.done(stoa.api.GET("/api/v1/contacts"));
    for (const contact of contacts.filter(({ state, requested_by_me }) => state === "pending" && !requested_by_me)) {
      await stoa.done(stoa.api.POST("/api/v1/contacts/{contact_id}/accept", { params: { path: { contact_id: contact.id } }, body: {} }));
    }
  },

  async offer(contractor_id: string) {
    const { quote } = await stoa.done(stoa.api.POST("/api/v1/orders/quote", { body: { amount_minor: 1000 } }));
    const terms = {
      title: "From TypeScript", description: "A line.", deadline: "2999-01-01T00:00:00Z", amount_minor: 1000, contractor_id,
      confirmed_total_minor: quote.total_minor,
    };
    const body = { ...terms, operation_id: derivedOperationId("POST", "/api/v1/orders", terms) };
    return (await stoa.done(stoa.api.POST("/api/v1/orders", { body }))).order.id;
  },

  async act(order_id: string, action: string, result_text: string) {
    const path = { params: { path: { order_id } } };
    const { order } = await stoa.done(stoa.api.GET("/api/v1/orders/{order_id}", path));
    const sent = { expected_version: order.version, ...(action === "deliver" ? { result_text } : {}) };
    const body = { ...sent, operation_id: derivedOperationId("POST", `/api/v1/orders/${order_id}/${action}`, sent) };
    for (let time = 0; time < 2; time++) {
      await stoa.done(
        action === "deliver"
          ? stoa.api.POST("/api/v1/orders/{order_id}/deliver", { ...path, body: { ...body, result_text } })
          : stoa.api.POST(`/api/v1/orders/{order_id}/${action as Action}`, { ...path, body }),
      );
    }
  },

  async meet(bot_id: string) {
    const { bot } = await stoa.done(stoa.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id } } }));
    return stoa.log!.meet(bot).then(() => "met", (error: TrustError) => error.code);
  },

  async acceptEpoch() {
    return stoa.log!.acceptEpoch();
  },

  async available() {
    return (await stoa.done(stoa.api.GET("/api/v1/wallet"))).wallet.available_minor;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line) as [string, ...string[]];
  console.log(JSON.stringify((await commands[name]!(...args)) ?? null));
}
