package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"stoa/rest/client"
)

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
func (s *Socket) Next() (client.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	got, err := s.socket.Next(ctx)
	if err != nil {
		return got, fmt.Errorf("waiting for an event: %w", err)
	}
	return got, nil
}

// Ack acknowledges an event and waits for the server's confirmation.
func (s *Socket) Ack(e client.Event) error {
	if err := s.socket.Ack(e.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	confirmed, err := s.socket.Acked(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the confirmation of an ack: %w", err)
	}
	return same("event_id", confirmed, e.ID)
}

// Take waits for an event, which must be of that kind, decodes its payload and acknowledges it.
func (s *Socket) Take(kind string, payload any) error {
	got, err := s.Next()
	if err == nil {
		err = same("kind", got.Kind, kind)
	}
	if err != nil {
		return fmt.Errorf("expecting %s: %w", kind, err)
	}
	if err := json.Unmarshal(got.Payload, payload); err != nil {
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
			return same("close code", closed, code)
		}
		if err != nil {
			return fmt.Errorf("waiting for close code %d: %w", code, err)
		}
	}
}
