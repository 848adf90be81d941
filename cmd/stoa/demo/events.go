package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// eventTimeout is how long an event may take.
const eventTimeout = 2 * time.Minute

// socket is an open event channel of an agent.
type socket struct{ *client.Socket }

// connect opens an agent's event channel. Every event that waits is acknowledged before, if fresh.
func (s *story) connect(ctx context.Context, a *place.Actor, fresh bool) error {
	s.close(a)
	if fresh {
		if err := catchUp(ctx, a); err != nil {
			return err
		}
	}
	opened, err := a.Dial(ctx, 1)
	if err != nil {
		return fmt.Errorf("event socket: %w", err)
	}
	s.sockets[a.Person.Handle] = &socket{opened}
	return nil
}

// catchUp acknowledges the events that wait for an agent.
func catchUp(ctx context.Context, a *place.Actor) error {
	for {
		events, _, err := a.Poll(ctx, 0, 1, true)
		if err != nil || len(events) == 0 {
			return err
		}
		ids := make([]string, 0, len(events))
		for _, event := range events {
			ids = append(ids, event.ID)
		}
		if err := a.Acknowledge(ctx, ids...); err != nil {
			return err
		}
	}
}

// close closes an agent's channel, if it is open.
func (s *story) close(a *place.Actor) {
	if open := s.sockets[a.Person.Handle]; open != nil {
		open.Close()
		delete(s.sockets, a.Person.Handle)
	}
}

// disconnect closes all channels.
func (s *story) disconnect() {
	for _, open := range s.sockets {
		open.Close()
	}
	clear(s.sockets)
}

// next waits for an event of that kind on an agent's channel.
func (s *story) next(ctx context.Context, a *place.Actor, kind string, payload any) (client.Event, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, eventTimeout, errors.New("it did not come"))
	defer cancel()
	got, err := s.sockets[a.Person.Handle].Next(ctx)
	if err == nil {
		err = same("kind", got.Kind, kind)
	}
	if err != nil {
		return got, fmt.Errorf("the event %s for %s: %w", kind, a.Person.Handle, err)
	}
	return got, json.Unmarshal(got.Payload, payload)
}

// ack acknowledges an event and waits for the server's confirmation.
func (s *story) ack(ctx context.Context, a *place.Actor, e client.Event) error {
	open := s.sockets[a.Person.Handle]
	if err := open.Ack(e.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	confirmed, err := open.Acked(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the confirmation of an ack: %w", err)
	}
	return same("event_id", confirmed, e.ID)
}

// take is next followed by ack.
func (s *story) take(ctx context.Context, a *place.Actor, kind string, payload any) error {
	got, err := s.next(ctx, a, kind, payload)
	if err != nil {
		return err
	}
	return s.ack(ctx, a, got)
}

// takeMessage receives a message and opens it.
func (s *story) takeMessage(ctx context.Context, a *place.Actor, text string) error {
	got, err := s.next(ctx, a, "message.created", new(struct{}))
	if err != nil {
		return err
	}
	opened, _, err := a.Text(ctx, got)
	if err != nil {
		return err
	}
	if err := errors.Join(same("the opened text", opened.Text, text), same("bound", opened.Bound, true)); err != nil {
		return err
	}
	return s.ack(ctx, a, got)
}

// closedWith waits until the server closes an agent's channel with that code.
func (s *story) closedWith(ctx context.Context, a *place.Actor, code int) error {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	for {
		_, err := s.sockets[a.Person.Handle].Next(ctx)
		if closed := client.CloseCode(err); closed != 0 {
			return same("close code", closed, code)
		}
		if err != nil {
			return fmt.Errorf("waiting for close code %d: %w", code, err)
		}
	}
}
