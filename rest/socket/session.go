package socket

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
)

const (
	// silence is how long a peer may say nothing at all, pongs included (contract §8).
	silence = 75 * time.Second
	// writeTimeout is how long one frame may take to go out; a client that is slower is cut off.
	writeTimeout = time.Second
	// linger is how long a closed client may take to close its side.
	linger = time.Second
	// releaseTimeout is how long a closing connection waits for its slot to be free again before it says so to the client.
	releaseTimeout = 250 * time.Millisecond
	// maxUnanswered is how many acks may wait for their answer: four for each event in flight.
	maxUnanswered = 4 * events.WindowSize
)

// session is one open connection. One goroutine reads, that of wait while there is nothing to read and that of read otherwise; the
// goroutine of pump lives while there is something to write and is the only one that writes data.
type session struct {
	hub  *Hub
	gate gate
	// socket is the gate's connection, to wait on.
	socket  syscall.RawConn
	in      inbox
	out     outbox
	slot    events.Slot
	version int
	// round is the second, of every pingPeriod, in which the peer is pinged.
	round int

	// cursor is the sequence up to which the pump has gone through the events.
	cursor int64

	mu      sync.Mutex
	closing *closure
	pumping bool
	chores  chores
	flight  flight
	// held tells that there are events behind a full flight.
	held bool
	// loading tells that the pump is reading events; gone are those settled meanwhile, which it must not send any more.
	loading bool
	gone    []uuid.UUID
}

// incoming are buffers for what a client says at once.
var incoming = sync.Pool{New: func() any { return new([maxFrame]byte) }}

// past is a deadline that ends a read at once.
var past = time.Unix(1, 0)

// start begins a session on a connection that has been upgraded.
func (s *session) start() {
	s.heard()
	go s.wait()
	s.kick(chores{look: true})
}

// heard grants the peer another span of silence, unless the session is ending.
func (s *session) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		_ = s.gate.SetReadDeadline(time.Now().Add(silence)) // fails only once the connection is closed, which the read will tell
	}
}

// close ends the session; only the first reason counts.
func (s *session) close(c closure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		s.closing = &c
		_ = s.gate.SetReadDeadline(past) // as above
	}
}

// read takes what has come and waits for more, unless waiting ended with an error.
func (s *session) read(err error) {
	if err == nil {
		err = s.receive()
	}
	if err != nil {
		s.finish(err)
		return
	}
	go s.wait()
}

// receive takes as much as one read brings.
func (s *session) receive() error {
	buffer := incoming.Get().(*[maxFrame]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer incoming.Put(buffer)
	n, ended := s.gate.Read(buffer[:])
	if err := s.in.take(buffer[:n], s); err != nil {
		return err
	}
	return ended
}

// hear takes one message.
func (s *session) hear(message []byte) error {
	event, err := readAck(message)
	if err != nil {
		return err
	}
	return s.ack(event)
}

// pong answers a ping.
func (s *session) pong(payload []byte) error { return s.send(opPong, payload) }

// ack notes an acknowledgement for the pump. One of an event that this connection has not received is passed over.
func (s *session) ack(event uuid.UUID) error {
	s.mu.Lock()
	received := s.flight.received(event)
	waiting := len(s.chores.acks)
	s.mu.Unlock()
	if !received {
		return nil
	}
	if waiting >= maxUnanswered {
		return errFast
	}
	s.kick(chores{acks: []uuid.UUID{event}})
	return nil
}

// forget settles events that were acknowledged on another connection of the agent.
func (s *session) forget(ids []uuid.UUID) {
	s.mu.Lock()
	for _, id := range ids {
		s.flight.settle(id)
	}
	if s.loading {
		s.gone = append(s.gone, ids...)
	}
	held := s.held
	s.mu.Unlock()
	if held {
		s.kick(chores{more: true})
	}
}

// finish ends the connection: cause is why the read ended, which counts where nobody had closed the session before.
func (s *session) finish(cause error) {
	s.mu.Lock()
	byPeer := false
	if s.closing == nil {
		var last closure
		last, byPeer = ending(cause)
		s.closing = &last
	}
	last := *s.closing
	s.mu.Unlock()

	s.hub.leave(s)
	if last.code != 0 {
		_ = s.send(opClose, websocket.FormatCloseMessage(last.code, last.reason)) // a peer that cannot be told sees the end
		if !byPeer {
			s.drain()
		}
	}
	_ = s.gate.Close()
	s.hub.finished(s, last)
}

// ending tells how to answer the end of a read: with a closure, with the code that the peer closed with, or not at all.
func ending(cause error) (last closure, byPeer bool) {
	var (
		refused closure
		closed  *websocket.CloseError
	)
	switch {
	case errors.As(cause, &refused):
		return refused, false
	case errors.As(cause, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return closure{code: closed.Code}, true
	default:
		return errBroken, false
	}
}

// drain reads until the peer has closed too: closing on unread bytes would reset the connection, and the peer might never see
// the close code.
func (s *session) drain() {
	_ = s.gate.SetReadDeadline(time.Now().Add(linger))
	var rest [512]byte
	for inOrder := s.gate.refused == nil; !s.gate.last; {
		n, err := s.gate.Conn.Read(rest[:])
		if err != nil {
			return
		}
		if inOrder {
			_, refused := s.gate.scan(rest[:n])
			inOrder = refused == nil
		}
	}
}
