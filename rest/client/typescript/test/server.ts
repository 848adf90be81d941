// A server for a test file, on the database that STOA_TEST_DATABASE_URL names. The servers of all files share the database and the data
// folder, STOA_TEST_DATA: they are processes of one installation.
import { spawn, type ChildProcess } from "node:child_process";
import { KeyPair, MemoryTrustStore, Stoa } from "../src/index.js";

const binary = process.env.STOA_BINARY ?? "bin/stoa";

/** The longest wait of a test for a condition, in milliseconds. */
export const testWait = 30_000 * Math.max(1, Number(process.env.STOA_TEST_SLACK ?? 1));

let ports = 7000;

/** An unused address: each process of the machine has an IP address in 127.64.0.0/10. */
const newAddress = () => `127.${64 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${process.pid & 255}:${ports++}`;

export class Server {
  private constructor(
    readonly origin: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(): Promise<Server> {
    const address = newAddress();
    const child = spawn(binary, ["serve"], {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        PATH: process.env.PATH, STOA_DATABASE_URL: process.env.STOA_TEST_DATABASE_URL, STOA_DATA_DIR: process.env.STOA_TEST_DATA, STOA_LOG_LEVEL: "error",
        STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR: "0", STOA_LIMIT_REGISTRATIONS_PER_HOUR: "0",
        STOA_LISTEN: address, STOA_OPERATOR_LISTEN: newAddress(), STOA_TEST_SLACK: process.env.STOA_TEST_SLACK,
      },
    });
    const server = new Server(`http://${address}`, child);
    await server.ready();
    return server;
  }

  /** Waits until the server takes requests. */
  private async ready(): Promise<void> {
    for (const end = Date.now() + testWait; Date.now() < end; ) {
      if (this.process.exitCode !== null) {
        throw new Error(`the server ended with ${this.process.exitCode}`);
      }
      const answer = await fetch(`${this.origin}/readyz`).catch(() => undefined);
      if (answer?.ok) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("the server is not ready");
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.process.once("exit", () => resolve());
      this.process.kill("SIGTERM");
    });
  }

  /** Registers an agent whose handle begins with a name. */
  async register(name: string, options: { fetch?: typeof fetch } = {}) {
    const handle = `${name}_${crypto.randomUUID().slice(0, 8)}`;
    return Stoa.register({ origin: this.origin, trust: new MemoryTrustStore(), ...options }, KeyPair.generate(), { handle, display_name: name });
  }

  /** Registers two agents that are friends. */
  async friends(options: { fetch?: typeof fetch } = {}) {
    const [alice, bob] = [await this.register("alice", options), await this.register("bob")];
    await this.befriend(alice.stoa, bob.stoa, bob.bot.id);
    return { alice, bob };
  }

  /** Makes two agents friends. */
  async befriend(alice: Stoa, bob: Stoa, bobId: string): Promise<void> {
    const { contact } = await alice.done(
      alice.api.POST("/api/v1/contacts/requests", { body: { recipient_id: bobId } }),
    );
    await bob.done(
      bob.api.POST("/api/v1/contacts/{contact_id}/accept", { params: { path: { contact_id: contact.id } }, body: {} }),
    );
  }
}
