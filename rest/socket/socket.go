package socket

import (
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

const (
	readTimeout     = 75 * time.Second      // the maximum time without any frame of the peer, pongs included (§6)
	linger          = time.Second           // the time in which a client must close its side
	maxUnanswered   = 4 * events.WindowSize // acks that wait for their answer: four for each event in flight
	maxMessage      = bounds.Frame          // bytes of a client's message (§6)
	maxWire         = 4 * maxMessage        // bytes of a client's message or control frame, the headers of fragments included
	framesPerSecond = 50                    // a client's messages and control frames in any second; first acks do not count (§6)
)

// defaultWriteTimeout bounds the sending of one frame; a slower client is disconnected.
var defaultWriteTimeout = slack.Of(time.Second)

// socket is the WebSocket of a session. The goroutine of run serves the session; the goroutine of read reads while the connection
// is open. Only serve writes data frames; control frames may be written by any goroutine.
type socket struct {
	session

	conn *websocket.Conn
	// wire is the connection under conn.
	wire *meteredConn
	// frames holds the times of the frames of the last second. Only the goroutine that reads uses it.
	frames []time.Time
}

// attach gives the session its upgraded connection.
func (s *socket) attach(conn *websocket.Conn) {
	s.conn = conn
	if named, ok := versions[conn.Subprotocol()]; ok {
		s.version = named
	}
	conn.SetPingHandler(s.onPing)
	conn.SetPongHandler(s.onPong)
	conn.SetCloseHandler(func(int, string) error { return nil }) // run answers once the slot is free
}

// run serves the session and closes the connection. It frees the slot before it sends the close frame, so that a client that sees
// the code can open another connection. Then it waits until the client closes its side.
func (s *socket) run() {
	s.touch()
	read := make(chan struct{})
	go func() {
		s.read()
		close(read)
	}()
	s.schedule(pending{fetch: true})
	s.serve()
	s.hub.unregister(&s.session)
	reason := reasonOfEnd(s.ctx)
	if reason != errBroken {
		message := websocket.FormatCloseMessage(reason.code, reason.text)
		_ = s.conn.WriteControl(websocket.CloseMessage, message, s.writeDeadline()) // a peer that misses it sees the end of the connection
		s.mu.Lock()
		_ = s.conn.SetReadDeadline(time.Now().Add(linger)) // fails only on a closed connection, which the next read reports
		s.mu.Unlock()
		<-read
	}
	_ = s.conn.Close()
	s.hub.finished(&s.session, reason)
}

// touch renews the read timeout, unless the session is ending.
func (s *socket) touch() {
	s.wire.unfinished = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(readTimeout)) // as above
	}
}

func (*socket) frame(e *events.Queued) []byte { return e.Frame() }

// write implements link. It disconnects a client that does not take a frame in time; the next connection gets the missed events.
func (s *socket) write(frame []byte) error {
	_ = s.conn.SetWriteDeadline(s.writeDeadline()) // it returns no error
	return s.conn.WriteMessage(websocket.TextMessage, frame)
}

func (s *socket) ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, s.writeDeadline())
}

func (s *socket) writeDeadline() time.Time { return time.Now().Add(s.hub.writeTimeout) }

// read handles frames of the client until the connection ends. When the session is closed it waits for the peer to close, too.
func (s *socket) read() {
	for {
		event, wrong, err := s.receive()
		if err == nil {
			if wrong == nil {
				wrong = s.handle(event)
			}
			if wrong != nil {
				s.close(*wrong)
			}
			continue
		}
		reason, byPeer := reasonOfReadError(err)
		s.close(reason)
		if !byPeer && reason != errBroken {
			// Closing with unread bytes would reset the connection, and the peer might never see the close code.
			_, _ = io.Copy(io.Discard, s.wire.Conn) // it ends with the peer or the deadline
		}
		return
	}
}

// receive reads the next message, an ack of an event, or returns the close reason for a wrong message. An error ends the reading.
func (s *socket) receive() (event uuid.UUID, wrong *closeReason, err error) {
	kind, reader, err := s.conn.NextReader()
	if err != nil {
		return uuid.Nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(reader, maxMessage+1))
	if err != nil {
		return uuid.Nil, nil, err
	}
	s.touch()
	switch {
	case len(raw) > maxMessage:
		return uuid.Nil, &errLarge, nil
	case kind != websocket.TextMessage:
		return uuid.Nil, &errProtocol, nil
	}
	if event, err = readAck(raw); err != nil {
		return uuid.Nil, &errProtocol, nil
	}
	return event, nil, nil
}

// handle schedules an acknowledgement, or returns the reason if the connection must end. An ack of an event that this connection
// has not received changes nothing. First acks do not count as frames.
func (s *socket) handle(event uuid.UUID) *closeReason {
	s.mu.Lock()
	state, waiting := s.inflight.ack(event), len(s.pending.acks)
	s.mu.Unlock()
	if state != ackFirst && s.isFast() || waiting >= maxUnanswered {
		return &errFast
	}
	if state != ackUnknown {
		s.schedule(pending{acks: []uuid.UUID{event}})
	}
	return nil
}

// onPong counts a pong.
func (s *socket) onPong(string) error {
	s.touch()
	if s.isFast() {
		s.close(errFast)
	}
	return nil
}

// isFast counts a frame and reports whether the client has sent too many within a second.
func (s *socket) isFast() bool {
	now := time.Now()
	s.frames = slices.DeleteFunc(s.frames, func(at time.Time) bool { return now.Sub(at) >= time.Second })
	s.frames = append(s.frames, now)
	return len(s.frames) > framesPerSecond
}

// onPing counts a ping and answers it.
func (s *socket) onPing(payload string) error {
	_ = s.onPong(payload) // it returns no error
	err := s.conn.WriteControl(websocket.PongMessage, []byte(payload), s.writeDeadline())
	if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
		return errBroken
	}
	return nil
}

// reasonOfReadError returns the close reason for a read error: the peer's close code, a code for an invalid message, or
// errBroken.
func reasonOfReadError(cause error) (last closeReason, byPeer bool) {
	var (
		reason  closeReason
		closed  *websocket.CloseError
		network net.Error
	)
	switch {
	case errors.As(cause, &reason):
		return reason, false
	case errors.Is(cause, websocket.ErrReadLimit): // a longer frame than any message
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

// readAck parses an ack frame and returns its event, or uuid.Nil if the event id is not a UUID. Any other frame is errProtocol.
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
		return uuid.Nil, nil //nolint:nilerr // to a client an id is any string; no connection has received this event
	}
	return event, nil
}

// acked returns the frame that answers an ack.
func acked(event uuid.UUID) []byte {
	return []byte(`{"type":"acked","event_id":"` + event.String() + `"}`)
}
