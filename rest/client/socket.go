package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// silence is how long a socket may be silent before it counts as broken. The server sends a ping every 30 s (§6).
const silence = 75 * time.Second

type frame struct {
	Event

	Type string `json:"type"`
}

// inFlight is the most unacknowledged events that the server sends.
const inFlight = 256

// Socket is one connection to the event channel. Acknowledge an event after it was handled; an unacknowledged event is sent again
// on the next connection.
type Socket struct {
	conn    *websocket.Conn
	events  chan Event
	acked   chan string
	failure error // read after the channels were closed

	writing sync.Mutex
}

// Dial opens the event channel in version 1 or 2. If the server refuses the agent, Next returns the error, since the handshake
// succeeds all the same. A server or proxy without WebSocket is ErrNoSocket.
func (c *Client) Dial(ctx context.Context, version int) (*Socket, error) {
	dialer := websocket.Dialer{HandshakeTimeout: c.options.Timeout, Proxy: http.ProxyFromEnvironment}
	if version > 1 {
		dialer.Subprotocols = []string{fmt.Sprintf("stoa.events.v%d", version)}
	}
	address := "ws" + strings.TrimPrefix(c.origin, "http") + "/ws/v1/events/"
	conn, response, err := dialer.DialContext(ctx, address, http.Header{"Authorization": {"Bearer " + c.Token()}})
	if response != nil {
		defer response.Body.Close()
	}
	if errors.Is(err, websocket.ErrBadHandshake) && response != nil {
		return nil, fmt.Errorf("%w: the handshake was answered %d", ErrNoSocket, response.StatusCode)
	}
	if err != nil {
		return nil, err
	}
	s := &Socket{conn: conn, events: make(chan Event, inFlight), acked: make(chan string, inFlight)}
	pong := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		return errors.Join(conn.SetReadDeadline(time.Now().Add(silence)), pong(data))
	})
	go s.read()
	return s, nil
}

// ErrNoSocket means that no WebSocket can be opened; use the long poll instead.
var ErrNoSocket = errors.New("there is no event socket")

// read reads frames until the connection ends, and answers pings even if the caller takes no events.
func (s *Socket) read() {
	defer close(s.acked)
	defer close(s.events)
	for {
		var got frame
		err := s.conn.SetReadDeadline(time.Now().Add(silence))
		if err == nil {
			err = s.conn.ReadJSON(&got)
		}
		if err == nil && got.Type == "event" && len(s.events) == inFlight {
			err = errors.New("the server has sent more events than may be unacknowledged")
		}
		if err != nil {
			s.failure = err
			_ = s.conn.Close() // it is useless now
			return
		}
		switch got.Type {
		case "event":
			got.CreatedAt = got.idTime() // a socket does not send it
			s.events <- got.Event
		case "acked":
			select {
			case s.acked <- got.ID:
			default: // no caller waits
			}
		}
	}
}

// Next waits for an event without acknowledging it. After the connection broke, it returns the events received before, and then
// the error, for CloseCode.
func (s *Socket) Next(ctx context.Context) (Event, error) { return take(ctx, s, s.events) }

// take waits for the next value, or returns why the connection ended.
func take[T any](ctx context.Context, s *Socket, from <-chan T) (next T, err error) {
	select {
	case next, open := <-from:
		if !open {
			err = s.failure
		}
		return next, err
	case <-ctx.Done():
		return next, ctx.Err()
	}
}

// Ack acknowledges an event, without waiting for the server's confirmation.
func (s *Socket) Ack(id string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(Timeout)); err != nil {
		return err
	}
	return s.conn.WriteJSON(map[string]string{"type": "ack", "event_id": id})
}

// Acked waits for the next confirmation and returns its event's id. Up to 256 confirmations are buffered; further ones are
// dropped.
func (s *Socket) Acked(ctx context.Context) (string, error) { return take(ctx, s, s.acked) }

// Close closes the connection.
func (s *Socket) Close() { _ = s.conn.Close() } // it may be broken already

// CloseCode returns the code with which the server closed a socket (§6), 0 for another error.
func CloseCode(err error) int {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return closed.Code
	}
	return 0
}
