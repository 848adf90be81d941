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

// Poll returns the page of a poll whose first read found nothing. It waits for events until the poll's time is over, its token
// ends or the Hub drains. If the client leaves, the page is empty. Faults: rate_limited, unauthorized, service_unavailable.
func (h *Hub) Poll(ctx context.Context, wait *events.Wait) (*events.Page, error) {
	s := new(session)
	s.begin(h, nil, 0)
	defer s.close(errAnswered)
	defer context.AfterFunc(ctx, func() { s.close(errBroken) })()
	refused := h.admit(ctx, wait.Agent, s)
	if refused != nil {
		h.counts.closed(refused.code)
		return answer(nil, *refused, nil)
	}
	s.schedule(pending{fetch: true}) // an event before the registration did not wake the poll
	found, reason, failed := s.poll(ctx, wait)
	h.unregister(s) // before the answer, after which the client may poll again
	h.finished(s, reason)
	return answer(found, reason, failed)
}

// poll waits for events, and returns them or the reason why it stopped. ctx is the request's; failed is the error of the last read.
func (s *session) poll(ctx context.Context, wait *events.Wait) (found *events.Page, reason closeReason, failed error) {
	over := time.NewTimer(wait.Length)
	defer over.Stop()
	var retry <-chan time.Time
	for pause := firstWait; ; {
		select {
		case <-s.woken:
		case <-retry:
		case <-over.C:
			return nil, errAnswered, failed
		case <-s.ctx.Done():
			if s.hub.ctx.Err() != nil {
				return nil, errAway, nil
			}
			return nil, reasonOfEnd(s.ctx), failed
		}
		found, failed = events.ReadPage(ctx, wait.Cursor, s.hub.fetch)
		switch {
		case failed != nil:
			s.hub.warnLimited("event poll cannot read", failed)
			retry, pause = time.After(pause), min(2*pause, longWait)
		case len(found.Events) > 0:
			s.hub.counts.delivered.Add(int64(len(found.Events)))
			return found, errAnswered, nil
		}
	}
}

// answer returns the page or the fault of a poll that ended for a reason.
func answer(found *events.Page, reason closeReason, failed error) (*events.Page, error) {
	switch {
	case found != nil:
		return found, nil
	case reason != errAnswered && reason != errDraining && reason != errBroken:
		return nil, faultOf(reason)
	case failed != nil:
		return nil, fault.Wrap(fault.ServiceUnavailable, failed)
	}
	return &events.Page{Events: []*events.Card{}}, nil
}

// defaultStreamLife is the maximum life of a stream. Clients need not send anything, so only a reconnection proves their
// existence.
const defaultStreamLife = 4 * time.Hour

// comment keeps a stream alive; clients ignore it.
var comment = []byte(":\n\n")

// stream is a session whose client reads server-sent events. The goroutine of the request serves it. If a client has vanished,
// sent bytes are not confirmed, which ends the connection (package httpserver). If a client does not read, the stream ends when
// the buffers on the way are full.
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
			defer func() {
				h.unregister(&s.session)
				h.finished(&s.session, reasonOfEnd(s.ctx))
			}()
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

// resume continues the session after an event: this event and all earlier unacknowledged events count as received. An event
// outside of the first window was acknowledged or is another agent's, and changes nothing. A stream that skips own acts reads the
// window again without them: they do not count as in flight, but the client's last event may be one.
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
