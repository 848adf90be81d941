package socket

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
)

// defaultStreamLife is the maximum life of a stream. Its client never has to send anything; if it is still there, it reconnects.
const defaultStreamLife = 4 * time.Hour

// comment keeps a stream alive; clients ignore it.
var comment = []byte(":\n\n")

// stream is a session whose client reads server-sent events. The goroutine of the request serves it. A vanished client does not
// confirm sent bytes, which ends the connection (package httpserver). A client that does not read is noticed when the buffers on
// the way are full.
type stream struct {
	session

	w          http.ResponseWriter
	controller *http.ResponseController
}

// ServeStream answers a request with a stream of events (§4.10). While the Hub drains, and for HEAD, the stream ends at once, and
// the client connects again. Faults, if it has not answered: rate_limited, service_unavailable.
func (h *Hub) ServeStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) error {
	s := &stream{w: w, controller: http.NewResponseController(w)}
	s.begin(h, s, streamPingRounds)
	s.version, s.skipOwn = wanted.Version, wanted.SkipOwn
	refused := &errDraining
	if r.Method != http.MethodHead {
		if refused = h.admit(r.Context(), wanted.Agent, &s.session); refused == nil {
			defer s.leave()
			if err := s.resume(wanted.Behind); err != nil {
				s.close(errAway)
				return fault.Wrap(fault.ServiceUnavailable, err)
			}
		}
	}
	if refused != nil && *refused != errDraining {
		h.counts.closed(refused.code)
		return faultOf(*refused)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusOK)
	if refused != nil {
		return nil
	}
	defer context.AfterFunc(r.Context(), func() { s.close(errBroken) })()
	defer time.AfterFunc(h.streamLife, func() { s.close(errExpired) }).Stop()
	s.session.write(comment)
	s.schedule(pending{fetch: true})
	s.serve()
	_ = s.controller.SetWriteDeadline(time.Now().Add(h.writeTimeout)) // for the end of the answer
	return nil
}

// leave frees the slot of a stream that has ended.
func (s *stream) leave() {
	s.hub.unregister(&s.session)
	s.hub.finished(&s.session, s.reason())
}

// resume continues the session after an event: this event and all unacknowledged ones before it count as received. If the event
// is not in the first window, it was acknowledged or is not the agent's, and changes nothing. A stream that skips own acts reads
// again: they are acknowledged and take no room, but one may be the client's last event.
func (s *stream) resume(behind uuid.UUID) error {
	if behind == uuid.Nil {
		return nil
	}
	window := events.Cursor{Recipient: s.slot.BotID, Version: s.version, Known: math.MaxInt64, Size: events.WindowSize}
	batch, err := s.hub.fetch(s.ctx, window)
	if err != nil {
		return err
	}
	last := slices.IndexFunc(batch.Events, func(e events.Queued) bool { return e.ID == behind })
	if last < 0 {
		return nil
	}
	s.position.known = batch.Events[last].Sequence
	if window.SkipOwn = s.skipOwn; s.skipOwn {
		if batch, err = s.hub.fetch(s.ctx, window); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range batch.Events {
		if e.Sequence <= s.position.known {
			s.inflight.send(e.ID, e.Sequence)
		}
	}
	return nil
}

func (*stream) frame(e *events.Queued) []byte {
	b := make([]byte, 0, e.Size())
	b = append(b, "id: "...)
	b = append(b, e.ID.String()...)
	b = append(b, "\nevent: "...)
	b = append(b, e.Kind...)
	b = append(b, "\ndata: "...)
	return append(e.AppendPayload(b), "\n\n"...)
}

// write implements link. It disconnects a client that does not take a frame in time; the next connection gets the missed events.
func (s *stream) write(frame []byte) error {
	if err := s.controller.SetWriteDeadline(time.Now().Add(s.hub.writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(frame); err != nil {
		return err
	}
	return s.controller.Flush()
}

func (s *stream) ping() error { return s.write(comment) }
