import type { Stoa } from "./client.js";
import type { StoaEvent } from "./events.js";
import { ListenError, type Connection } from "./listen.js";

// The close codes after which another connection would be refused until the client changes something.
const refusals = new Set([4400, 4401, 4403]);

// The server pings every 30 s; a socket that is silent for longer than this, in milliseconds, is dead.
const silence = 75_000;

type Frame = { type: "acked"; event_id: string } | ({ type: "event" } & StoaEvent);

/** Events over a WebSocket, in Node. Throws if the socket cannot be opened. */
export async function socket(stoa: Stoa, version: number, signal?: AbortSignal): Promise<Connection> {
  const { WebSocket } = await import("ws");
  const ws = new WebSocket(`${stoa.origin.replace(/^http/, "ws")}/ws/v1/events/`, [`stoa.events.v${version}`], {
    headers: { Authorization: `Bearer ${stoa.token}` }, handshakeTimeout: 15_000,
  });
  const queue: StoaEvent[] = [];
  const acks = new Map<string, { resolve: () => void; reject: (reason: Error) => void }>();
  let end: Error | undefined;
  let wake = () => {};

  const watchdog = setTimeout(() => ws.terminate(), silence);
  ws.on("ping", () => watchdog.refresh());
  ws.on("message", (raw) => {
    let frame: Frame | null = null;
    try {
      frame = JSON.parse(String(raw)) as Frame | null;
    } catch {
      // it is reported below
    }
    if (!frame) {
      finish(new Error("the socket sent a frame that is not an event"));
      ws.terminate();
      return;
    }
    if (frame.type === "event") {
      queue.push({ event_id: frame.event_id, kind: frame.kind, payload: frame.payload } as StoaEvent);
      wake();
      return;
    }
    acks.get(frame.event_id)?.resolve();
    acks.delete(frame.event_id);
  });
  const aborted = () => ws.terminate();
  const finish = (error: Error) => {
    clearTimeout(watchdog);
    signal?.removeEventListener("abort", aborted);
    end ??= error;
    for (const waiting of acks.values()) {
      waiting.reject(end);
    }
    acks.clear();
    wake();
  };
  ws.on("close", (code, reason) =>
    finish(refusals.has(code) ? new ListenError(code, String(reason)) : new Error(`the socket was closed (${code})`)));
  signal?.addEventListener("abort", aborted, { once: true });

  await new Promise<void>((resolve, reject) => {
    ws.once("open", resolve);
    ws.on("error", (error) => {
      finish(error);
      reject(error);
    });
  });

  async function* events(): AsyncGenerator<StoaEvent> {
    for (;;) {
      for (let event = queue.shift(); event; event = queue.shift()) {
        yield event;
      }
      if (end) {
        throw end;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    [Symbol.asyncIterator]: events,
    acknowledge: (id) =>
      new Promise((resolve, reject) => {
        if (end) {
          reject(end);
          return;
        }
        acks.set(id, { resolve, reject });
        ws.send(JSON.stringify({ type: "ack", event_id: id }));
      }),
    close: aborted,
  };
}
