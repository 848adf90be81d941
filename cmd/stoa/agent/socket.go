package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// Event is what arrives on the event socket (§6).
type Event struct {
	Type    string          `json:"type"`
	ID      string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// Socket is one connection to the event channel.
type Socket struct {
	conn    *websocket.Conn
	timeout time.Duration
	// early holds events that came while Ack waited.
	early []Event
}

// Connect opens the agent's event socket; one that is open is closed first.
func (a *Agent) Connect(ctx context.Context) error {
	a.Close()
	ctx, cancel := context.WithTimeout(ctx, a.server.client.Timeout)
	defer cancel()
	address := "ws" + strings.TrimPrefix(a.server.url, "http") + "/ws/v1/events/"
	conn, response, err := websocket.DefaultDialer.DialContext(ctx, address, http.Header{"Authorization": {"Bearer " + a.Token}})
	if err != nil {
		return fmt.Errorf("event socket: %w", err)
	}
	a.Events = &Socket{conn: conn, timeout: a.server.client.Timeout}
	return response.Body.Close()
}

// Close closes the connection.
func (s *Socket) Close() { _ = s.conn.Close() } // it may be broken already

func (s *Socket) read() (Event, error) {
	var got Event
	if err := s.conn.SetReadDeadline(time.Now().Add(s.timeout)); err != nil {
		return got, err
	}
	err := s.conn.ReadJSON(&got)
	return got, err
}

// Next waits for an event without acknowledging it.
func (s *Socket) Next() (Event, error) {
	if len(s.early) > 0 {
		got := s.early[0]
		s.early = s.early[1:]
		return got, nil
	}
	got, err := s.read()
	if err != nil {
		return got, fmt.Errorf("waiting for an event: %w", err)
	}
	return got, Same("type", got.Type, "event")
}

// Expect waits for an event that must be of that kind, and decodes its payload.
func (s *Socket) Expect(kind string, payload any) (Event, error) {
	got, err := s.Next()
	if err == nil {
		err = Same("kind", got.Kind, kind)
	}
	if err != nil {
		return got, fmt.Errorf("expecting %s: %w", kind, err)
	}
	return got, json.Unmarshal(got.Payload, payload)
}

// Ack acknowledges an event and waits for the server's confirmation.
func (s *Socket) Ack(e Event) error {
	if err := s.conn.WriteJSON(map[string]string{"type": "ack", "event_id": e.ID}); err != nil {
		return err
	}
	for {
		got, err := s.read()
		if err != nil {
			return fmt.Errorf("waiting for the confirmation of an ack: %w", err)
		}
		if got.Type != "event" {
			return errors.Join(Same("type", got.Type, "acked"), Same("event_id", got.ID, e.ID))
		}
		s.early = append(s.early, got)
	}
}

// Take is Expect followed by Ack.
func (s *Socket) Take(kind string, payload any) error {
	got, err := s.Expect(kind, payload)
	if err != nil {
		return err
	}
	return s.Ack(got)
}

// ClosedWith waits until the server closes the connection with that code.
func (s *Socket) ClosedWith(code int) error {
	for {
		_, err := s.read()
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			return Same("close code", closed.Code, code)
		}
		if err != nil {
			return fmt.Errorf("waiting for close code %d: %w", code, err)
		}
	}
}
