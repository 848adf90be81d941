package socket

import (
	"sync"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// session is one open connection of an agent: what is sent on it and what it has received. The goroutine of writePump lives while
// there is something to write.
type session struct {
	hub     *Hub
	link    link
	slot    events.Slot
	version int
	// skipOwn: what the agent did itself is acknowledged instead of being sent.
	skipOwn bool
	// pingPeriod is after how many rounds, of pingRounds an interval, the client is sent a sign of life.
	pingPeriod int
	released   sync.Once
	// position is where the write pump reads on; only its goroutine uses it.
	position position

	mu       sync.Mutex
	closing  *closeReason
	pumping  bool
	pending  pending
	inflight inflight
	// blocked reports that there may be events to send once an event in flight is settled.
	blocked bool
	// loading reports that events are read or sent; those in settledWhileLoading must not be sent any more.
	loading             bool
	settledWhileLoading []uuid.UUID
	// unsent are the events of the batch that are not written yet. dropped reports that they were dropped, because the client is
	// slow, and have to be read again.
	unsent  []events.Queued
	dropped bool
}

// link is the connection that a session writes to: a WebSocket, or a stream of server-sent events.
type link interface {
	// frame is an event as it goes over the connection.
	frame(e *events.Queued) []byte
	// write sends frames of events and acknowledgements, ping a sign of life. Only the write pump calls them. An error means that the
	// client cannot be written to any more.
	write(frame []byte) error
	ping() error
	// end begins to close the connection for a reason. It is called once, with the session locked, and does not block.
	end(reason closeReason)
	// cut closes the connection at once.
	cut()
}

// close ends the session; only the first reason counts. It does not block.
func (s *session) close(reason closeReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		s.closing = &reason
		s.link.end(reason)
	}
}

// conclude returns why the session was closed, or sets why it ends where it was not.
func (s *session) conclude(end closeReason) (last closeReason, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if closed = s.closing != nil; !closed {
		s.closing = &end
	}
	return *s.closing, closed
}

// place implements receiver.
func (s *session) place() events.Slot { return s.slot }

// pingDue implements receiver. The slots' ids spread the sessions over the rounds.
func (s *session) pingDue(round int) bool {
	return (round+int(s.slot.ID[len(s.slot.ID)-1]))%s.pingPeriod == 0
}

// abandon implements receiver.
func (s *session) abandon() { s.link.cut() }

// release removes the session from the Hub and frees its slot, once; it returns when that is done.
func (s *session) release() { s.released.Do(func() { s.hub.unregister(s) }) }
