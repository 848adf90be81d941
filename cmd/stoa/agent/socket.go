package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"stoa/rest/client"
)

// Event is an event from the event socket (§6).
type Event = client.Event

// Socket is one connection to the event channel, on which nothing waits longer than a timeout.
type Socket struct {
	socket  *client.Socket
	timeout time.Duration
}

// Connect opens the agent's event socket; one that is open is closed first.
func (a *Agent) Connect(ctx context.Context) error {
	a.Close()
	ctx, cancel := context.WithTimeout(ctx, a.server.timeout)
	defer cancel()
	socket, err := a.server.as(a.Token).Dial(ctx, 1)
	if err != nil {
		return fmt.Errorf("event socket: %w", err)
	}
	a.Events = &Socket{socket, a.server.timeout}
	return nil
}

// Close closes the connection.
func (s *Socket) Close() { s.socket.Close() }

// Next waits for an event without acknowledging it.
func (s *Socket) Next() (Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	got, err := s.socket.Next(ctx)
	if err != nil {
		return got, fmt.Errorf("waiting for an event: %w", err)
	}
	return got, nil
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
	if err := s.socket.Ack(e.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	confirmed, err := s.socket.Acked(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the confirmation of an ack: %w", err)
	}
	return Same("event_id", confirmed, e.ID)
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
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	for {
		_, err := s.socket.Next(ctx)
		if closed := client.CloseCode(err); closed != 0 {
			return Same("close code", closed, code)
		}
		if err != nil {
			return fmt.Errorf("waiting for close code %d: %w", code, err)
		}
	}
}
