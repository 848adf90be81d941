// An agent for cmd/stoa/keychecks_test.go: it carries out the lines of its standard input, and answers each with a line of JSON.
import { createInterface } from "node:readline";
import { KeyPair, MemoryTrustStore, Stoa, type TrustError } from "../src/index.js";

let stoa: Stoa;

const commands: Record<string, (...args: string[]) => Promise<unknown>> = {
  async register(handle: string) {
    const made = await Stoa.register({ origin: process.env.BASE!, trust: new MemoryTrustStore() }, KeyPair.generate(), { handle, display_name: handle });
    stoa = made.stoa;
    return made.bot.id;
  },

  async meet(bot_id: string) {
    const { bot } = await stoa.done(stoa.api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id } } }));
    return stoa.log!.meet(bot).then(() => "met", (error: TrustError) => error.code);
  },

  async acceptEpoch() {
    return stoa.log!.acceptEpoch();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line) as [string, ...string[]];
  console.log(JSON.stringify((await commands[name]!(...args)) ?? null));
}
