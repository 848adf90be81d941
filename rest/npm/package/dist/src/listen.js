import { isActOf } from "./events.js";
import { MemoryEventStore } from "./eventstores.js";
import { Fault } from "./fault.js";
import { poll } from "./poll.js";
import { pause } from "./retry.js";
import { socket } from "./socket.js";
/** A refusal by the server, or by another listener (code "listening"). Unless something changes, new attempts fail, too. */
export class ListenError extends Error {
    code;
    constructor(code, reason) {
        super(`the event channel refuses this agent (${code}): ${reason}`);
        this.code = code;
        this.name = "ListenError";
    }
}
// After this number of sockets in a row that could not be opened, events are polled: a proxy may not let WebSockets through.
const socketsTried = 3;
const longestWait = 30;
/**
 * Yields the agent's events, one after the other, at no cost while nothing happens. It connects again by itself, with growing
 * waits, and throws a ListenError if that cannot help. After a rotation of the token in the key file of `Stoa.open` it continues
 * with the new token. It throws a ListenError with the code "listening" if another program on this machine listens with that key
 * file or a copy of it, because an acknowledgement counts for both; it detects this on Linux only. If a program on another
 * machine listens, it warns. Events in the store are acknowledged and not yielded; with `own: false` also events of own acts.
 */
export async function* listen(stoa, options = {}) {
    const release = stoa.keyFile === undefined ? undefined : await lock(stoa.keys.privateKey);
    try {
        await warnOfOthers(stoa, options);
        yield* events(stoa, options);
    }
    finally {
        release?.();
    }
}
// Asks the server for other listeners. If it does not answer, listening reports the reason.
async function warnOfOthers(stoa, { warn = console.warn, signal }) {
    const answer = await stoa.api.GET("/api/v1/events", { params: { query: { limit: 1 } }, signal: signal ?? null }).catch(() => undefined);
    if (answer?.response.headers.get("Other-Listeners")) {
        warn("another program listens as this agent, perhaps with a copy of the key file on another machine: "
            + "each gets only a part of the events; stop one of them");
    }
}
/** The name of the abstract socket of a listener. It is derived from the private key, so no other account of the machine can take
 * it first. The client for Go uses the same name. */
export async function listeningName(privateKey) {
    const { createHash } = await import("node:crypto");
    return `stoa-listening-${createHash("sha256").update(`stoa listening\n${privateKey}`).digest("hex")}`;
}
// Takes the agent's name among the abstract sockets, which only Linux has. It ends with the process.
async function lock(privateKey) {
    if (process.platform !== "linux") {
        return undefined;
    }
    const { createServer } = await import("node:net");
    const name = await listeningName(privateKey);
    const server = createServer();
    await new Promise((resolve, reject) => {
        server.once("error", (error) => {
            reject(error.code === "EADDRINUSE" ? new ListenError("listening", "another program listens already") : error);
        });
        server.listen(`\0${name}`.padEnd(108, "\0"), resolve);
    });
    server.unref();
    return () => server.close();
}
async function* events(stoa, options) {
    const { signal, version = 2, own = true, store = new MemoryEventStore() } = options;
    let by = options.by ?? (typeof process === "object" && process.versions?.node ? "socket" : "poll");
    for (let failed = 0, unopened = 0; !signal?.aborted; failed++) {
        if (!options.by && unopened >= socketsTried) {
            by = "poll";
        }
        let connection;
        const token = stoa.token;
        try {
            const skipped = own ? undefined : await stoa.id();
            unopened++;
            connection = by === "socket" ? await socket(stoa, version, signal) : poll(stoa, version, own, signal);
            unopened = 0;
            for await (const event of connection) {
                failed = 0;
                if ((skipped !== undefined && isActOf(event, skipped)) || (await store.has(event.event_id))) {
                    await connection.acknowledge(event.event_id);
                    continue;
                }
                yield delivery(event, connection, store);
            }
        }
        catch (error) {
            const refused = error instanceof ListenError || (error instanceof Fault && (error.status === 401 || error.status === 403));
            if (refused && !(isTokens(error) && (await stoa.renew(token, signal).catch(() => false)))) {
                if (signal?.aborted) {
                    return;
                }
                throw error instanceof Fault ? new ListenError(error.code, error.message) : error;
            }
        }
        finally {
            connection?.close();
        }
        await pause(Math.min(longestWait, 0.2 * 2 ** failed) * (0.5 + Math.random()), signal).catch(() => undefined);
    }
}
// Reports whether the server refuses the token, as after a rotation.
function isTokens(error) {
    return (error instanceof ListenError && error.code === 4401) || (error instanceof Fault && error.status === 401);
}
function delivery(event, connection, store) {
    return {
        event,
        async acknowledge() {
            await store.add(event.event_id);
            // If the connection is gone, the event comes again, and is then acknowledged because the store has it.
            await connection.acknowledge(event.event_id).catch(() => undefined);
        },
    };
}
