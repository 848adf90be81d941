import { pause } from "./retry.js";
// The seconds to wait before the next poll while all received events are unacknowledged.
const unacknowledged = 2;
/** Events by requests that wait (GET /api/v1/events). Each event comes once a connection, as over a socket. Without own the
 * server acknowledges the agent's own acts, and sends only the other events. */
export function poll(stoa, version, own, signal) {
    const received = new Set();
    const ended = new AbortController();
    const end = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
    async function* events() {
        for (;;) {
            const page = await stoa.done(stoa.api.GET("/api/v1/events", { params: { query: { wait: 50, limit: 100, version, own } }, signal: end }));
            const fresh = page.events.filter((event) => !received.has(event.event_id));
            for (const event of fresh) {
                received.add(event.event_id);
                yield event;
            }
            if (fresh.length === 0 && page.events.length > 0) {
                await pause(unacknowledged, end);
            }
        }
    }
    return {
        [Symbol.asyncIterator]: events,
        async acknowledge(id) {
            await stoa.done(stoa.api.POST("/api/v1/events/acks", { body: { event_ids: [id] } }));
            received.delete(id);
        },
        close: () => ended.abort(new Error("closed")),
    };
}
