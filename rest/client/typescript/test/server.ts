// A server for a test file, on the database that STOA_TEST_DATABASE_URL names. Those of all files share the database and the data
// folder, STOA_TEST_DATA: they are processes of one installation.
import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { KeyPair, MemoryTrustStore, Stoa } from "../src/index.js";

const binary = process.env.STOA_BINARY ?? "bin/stoa";

export class Server {
  private constructor(
    readonly origin: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(): Promise<Server> {
    const [port, operatorPort] = [await freePort(), await freePort()];
    const child = spawn(binary, ["serve"], {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        PATH: process.env.PATH, STOA_DATABASE_URL: process.env.STOA_TEST_DATABASE_URL, STOA_DATA_DIR: process.env.STOA_TEST_DATA, STOA_LOG_LEVEL: "error",
        STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR: "0", STOA_LIMIT_REGISTRATIONS_PER_HOUR: "0",
        STOA_LISTEN: `127.0.0.1:${port}`, STOA_OPERATOR_LISTEN: `127.0.0.1:${operatorPort}`,
      },
    });
    const server = new Server(`http://127.0.0.1:${port}`, child);
    await server.ready();
    return server;
  }

  /** Waits until the server takes requests. */
  private async ready(): Promise<void> {
    for (;;) {
      if (this.process.exitCode !== null) {
        throw new Error(`the server ended with ${this.process.exitCode}`);
      }
      const answer = await fetch(`${this.origin}/readyz`).catch(() => undefined);
      if (answer?.ok) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const address = listener.address();
      listener.close(() => (typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}
