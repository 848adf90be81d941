package socket

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/httpserver"
)

// defaultStreamLife is how long a stream lasts at most. Its client, which never has to say anything, connects again if it is still there.
const defaultStreamLife = 4 * time.Hour

// comment keeps a stream from being idle; clients ignore it.
var comment = []byte(":\n\n")

// stream is a session whose client reads server-sent events. Only the write pump writes.
type stream struct {
	session

	conn *httpserver.TakenOver
	// until is when its life ends.
	until time.Time
}

// ServeStream answers a request with a stream of events (§4.10), which goes on after it has returned. While the Hub drains, and for
// HEAD, the stream ends at once: a client connects again as it would later. Faults, where it has not answered: rate_limited,
// service_unavailable.
func (h *Hub) ServeStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) error {
	if r.Method == http.MethodHead || h.isDraining() {
		setStreamHeaders(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	}
	slot, process, err := h.admit(r, wanted.Agent)
	if err != nil {
		return err
	}
	s := &stream{
		session: session{hub: h, slot: slot, version: wanted.Version, skipOwn: wanted.SkipOwn, pingPeriod: pingRounds / 2},
		until:   time.Now().Add(h.streamLife),
	}
	s.link = s
	err = s.resume(r.Context(), wanted.Behind)
	if err == nil {
		setStreamHeaders(w.Header())
		s.conn, err = httpserver.TakeOver(w)
	}
	if err != nil {
		h.slots.submit(slot.ID)
		return err
	}
	s.conn.EndUnlessHeard(readTimeout)
	_ = s.conn.SetWriteDeadline(time.Now().Add(h.writeTimeout)) // the write shows that it is closed
	begun := s.conn.Begin(http.StatusOK, comment) == nil
	if !begun || !h.register(&s.session, process) {
		h.slots.submit(slot.ID)
		_ = s.conn.Close() // it may be closed already
		return nil
	}
	go s.read()
	s.schedule(pending{fetch: true})
	return nil
}

func setStreamHeaders(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
}

// resume has the session go on behind an event: it, and what is unacknowledged before it, counts as received. An event that is not
// among the first window of unacknowledged ones was acknowledged or is no event of the agent, and changes nothing. A stream that skips
// own acts reads once more, because those of that window are acknowledged and take no room, but may be the last event of the client.
func (s *stream) resume(ctx context.Context, behind uuid.UUID) error {
	if behind == uuid.Nil {
		return nil
	}
	window := events.Cursor{Recipient: s.slot.BotID, Version: s.version, Known: math.MaxInt64, Size: events.WindowSize}
	batch, err := s.hub.fetches.do(ctx, window)
	if err != nil {
		return err
	}
	last := slices.IndexFunc(batch.Events, func(e events.Queued) bool { return e.ID == behind })
	if last < 0 {
		return nil
	}
	s.position.known = batch.Events[last].Sequence
	if window.SkipOwn = s.skipOwn; s.skipOwn {
		if batch, err = s.hub.fetches.do(ctx, window); err != nil {
			return err
		}
	}
	for _, e := range batch.Events {
		if e.Sequence <= s.position.known {
			s.inflight.send(e.ID, e.Sequence)
		}
	}
	return nil
}

// read waits for the end of the connection.
func (s *stream) read() {
	awaitEnd(s.conn)
	last, _ := s.conclude(errBroken)
	s.release()
	_ = s.conn.Close() // it may be closed already
	s.hub.finished(s.slot, last)
}

// frame implements link.
func (*stream) frame(e *events.Queued) []byte {
	b := make([]byte, 0, e.Size())
	b = append(b, "id: "...)
	b = append(b, e.ID.String()...)
	b = append(b, "\nevent: "...)
	b = append(b, e.Kind...)
	b = append(b, "\ndata: "...)
	return append(e.AppendPayload(b), "\n\n"...)
}

// write implements link. A client that does not take a frame in time is disconnected; its next connection gets what it missed.
func (s *stream) write(frame []byte) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.hub.writeTimeout)) // the write shows that it is closed
	_, err := s.conn.Write(frame)
	return err
}

// ping implements link. A client that vanished does not confirm sent bytes, which ends the connection (EndUnlessHeard). A client
// that does not read is noticed only when the buffers between them are full, or when the stream reaches its maximum age.
func (s *stream) ping() error {
	if time.Now().After(s.until) {
		s.close(errExpired)
		return nil
	}
	return s.write(comment)
}

// end implements link.
func (s *stream) end(closeReason) { _ = s.conn.SetReadDeadline(past) } // has read end

// cut implements link.
func (s *stream) cut() { _ = s.conn.Close() } // it may be closed already
