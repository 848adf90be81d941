package socket

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

const (
	// readTimeout is how long a peer may send nothing at all, pongs included (§6).
	readTimeout = 75 * time.Second
	// defaultWriteTimeout is how long sending one frame may take; a slower client is disconnected.
	defaultWriteTimeout = time.Second
	// linger is how long a client may take to close its side.
	linger = time.Second
	// releaseTimeout is how long a closing connection waits for its slot to be free before it sends the close frame.
	releaseTimeout = 250 * time.Millisecond
	// maxUnanswered is how many acks may wait for their answer: four for each event in flight.
	maxUnanswered = 4 * events.WindowSize
)

// session is one open connection. The goroutine of read reads for as long as the connection is open. The goroutine of writePump
// lives while there is something to write; it alone writes data frames. Control frames may be written by any goroutine.
type session struct {
	hub  *Hub
	conn *websocket.Conn
	// wire is the connection beneath conn.
	wire    *meteredConn
	slot    events.Slot
	version int
	// pingRound is the part of the ping interval, of pingRounds, in which the peer is pinged.
	pingRound int
	pace      pace
	released  sync.Once
	// position is where the write pump reads on; only its goroutine uses it.
	position position

	mu       sync.Mutex
	closing  *closeReason
	pumping  bool
	pending  pending
	inflight inflight
	// blocked tells that there may be events to send once an event in flight is settled.
	blocked bool
	// loading tells that the pump is reading or sending events; those in settledWhileLoading must not be sent any more.
	loading             bool
	settledWhileLoading []uuid.UUID
	// unsent are the events of the batch that are not written yet. dropped tells that they were dropped, because the client is slow, and
	// have to be read again.
	unsent  []events.Queued
	dropped bool
}

// incoming are buffers for one message of a client; the byte beyond maxMessage tells that it is too large.
var incoming = sync.Pool{New: func() any { return new([maxMessage + 1]byte) }}

// past is a deadline that makes a read fail at once.
var past = time.Unix(1, 0)

// attach makes an upgraded connection the session's.
func (s *session) attach(conn *websocket.Conn) {
	s.conn = conn
	s.version = events.FirstVersion
	if named, ok := versions[conn.Subprotocol()]; ok {
		s.version = named
	}
	conn.SetPingHandler(s.onPing)
	conn.SetPongHandler(s.onPong)
	conn.SetCloseHandler(func(int, string) error { return nil }) // finish answers, when the slot is free
}

// start begins a session that the Hub has registered.
func (s *session) start() {
	s.touch()
	go s.read()
	s.schedule(pending{fetch: true})
}

// refuse begins a session that ends at once.
func (s *session) refuse(reason closeReason) {
	s.close(reason)
	go s.read()
}

// touch renews the read timeout, unless the session is ending.
func (s *session) touch() {
	s.wire.unfinished = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(readTimeout)) // fails only on a closed connection, which the next read reports
	}
}

// close ends the session; only the first reason counts. It does not block.
func (s *session) close(reason closeReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing != nil {
		return
	}
	s.closing = &reason
	if reason == errBroken {
		_ = s.conn.SetReadDeadline(past) // as above
		return
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(releaseTimeout + s.hub.writeTimeout + linger)) // as above
	go s.sendClose(reason)
}

// sendClose frees the slot before it sends the close frame, so that a client that sees the code can open another connection.
func (s *session) sendClose(reason closeReason) {
	s.release()
	message := websocket.FormatCloseMessage(reason.code, reason.text)
	_ = s.conn.WriteControl(websocket.CloseMessage, message, s.writeDeadline()) // a peer that cannot be told sees the end
	_ = s.conn.SetReadDeadline(time.Now().Add(linger))                          // as above
}

func (s *session) writeDeadline() time.Time { return time.Now().Add(s.hub.writeTimeout) }

// release removes the session from the Hub and frees its slot, once; it returns when that is done.
func (s *session) release() { s.released.Do(func() { s.hub.unregister(s) }) }

// read handles what the client sends until the connection ends. After close it waits for the peer to close too.
func (s *session) read() {
	for {
		message, err := s.receive()
		if err != nil {
			s.finish(err)
			return
		}
		if reason := s.handle(message); reason != nil {
			s.close(*reason)
		}
	}
}

// message is the result of reading one: the event that a well-formed ack names, or what is wrong with the message.
type message struct {
	event  uuid.UUID
	reason *closeReason
}

// receive reads the next message. An error ends the reading for good.
func (s *session) receive() (message, error) {
	kind, reader, err := s.conn.NextReader()
	if err != nil {
		return message{}, err
	}
	buffer := incoming.Get().(*[maxMessage + 1]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer incoming.Put(buffer)
	n, err := io.ReadFull(reader, buffer[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return message{}, err
	}
	s.touch()
	switch {
	case n > maxMessage:
		return message{reason: &errLarge}, nil
	case kind != websocket.TextMessage:
		return message{reason: &errProtocol}, nil
	}
	event, err := readAck(buffer[:n])
	if err != nil {
		return message{reason: &errProtocol}, nil
	}
	return message{event: event}, nil
}

// handle schedules an acknowledgement, or returns why the connection has to end. An ack of an event that this connection has not
// received changes nothing. First acks do not count as frames.
func (s *session) handle(m message) *closeReason {
	if m.reason != nil {
		return m.reason
	}
	s.mu.Lock()
	state, waiting := s.inflight.ack(m.event), len(s.pending.acks)
	s.mu.Unlock()
	if state != ackFirst && s.pace.take(time.Now()) != nil || waiting >= maxUnanswered {
		return &errFast
	}
	if state != ackUnknown {
		s.schedule(pending{acks: []uuid.UUID{m.event}})
	}
	return nil
}

// onPong counts a pong.
func (s *session) onPong(string) error {
	s.touch()
	if err := s.pace.take(time.Now()); err != nil {
		s.close(errFast)
	}
	return nil
}

// onPing counts a ping and answers it.
func (s *session) onPing(payload string) error {
	_ = s.onPong(payload) // it returns no error
	err := s.conn.WriteControl(websocket.PongMessage, []byte(payload), s.writeDeadline())
	if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
		return errBroken
	}
	return nil
}

// finish closes the connection. cause is why reading ended; it is the reason where the session was not closed before.
func (s *session) finish(cause error) {
	end, byPeer := reasonOfReadError(cause)
	last := end
	s.mu.Lock()
	closed := s.closing != nil
	if closed {
		last = *s.closing
	} else {
		s.closing = &last
	}
	s.mu.Unlock()
	s.release()
	if !closed && last != errBroken {
		s.sendClose(last)
	}
	if !byPeer && end != errBroken {
		// Closing on unread bytes would reset the connection, and the peer might never see the close code.
		_, _ = io.Copy(io.Discard, s.wire.Conn) // it ends with the peer or the deadline
	}
	_ = s.conn.Close()
	s.hub.finished(s, last)
}

// reasonOfReadError returns the reason of a session that ended while reading: the code with which the peer closed, a code for what the
// peer sent, or none.
func reasonOfReadError(cause error) (last closeReason, byPeer bool) {
	var (
		reason  closeReason
		closed  *websocket.CloseError
		network net.Error
	)
	switch {
	case errors.As(cause, &reason):
		return reason, false
	case errors.Is(cause, websocket.ErrReadLimit): // a length that no message has
		return errLarge, false
	case errors.As(cause, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return closeReason{code: closed.Code}, true
	case errors.As(cause, &closed), errors.As(cause, &network), errors.Is(cause, io.EOF):
		return errBroken, false
	default:
		return errFraming, false
	}
}

// ack is the only message of a client (§6).
type ack struct {
	Type    *string `json:"type"`
	EventID *string `json:"event_id"`
}

// readAck reads an ack frame and returns its event, or uuid.Nil for an event id that is no UUID. Anything else is errProtocol.
func readAck(frame []byte) (uuid.UUID, error) {
	var sent ack
	if err := wire.Unmarshal(frame, &sent); err != nil {
		return uuid.Nil, errProtocol
	}
	if sent.Type == nil || *sent.Type != "ack" || sent.EventID == nil || *sent.EventID == "" {
		return uuid.Nil, errProtocol
	}
	event, err := text.UUID(*sent.EventID)
	if err != nil {
		return uuid.Nil, nil //nolint:nilerr // to a client an id is any string; no connection has received this one
	}
	return event, nil
}

// acked is the frame that answers an ack.
func acked(event uuid.UUID) []byte {
	return []byte(`{"type":"acked","event_id":"` + event.String() + `"}`)
}
