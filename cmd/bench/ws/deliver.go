package ws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

const (
	// senders write in turn, each to a friend of its own.
	senders = 64
	// largeBuffer holds an event with its message.
	largeBuffer = 4 << 10
	// late is how long an event may take before it counts as lost.
	late = 10 * time.Second
)

// Delivery is how soon events arrived after the answer to the message that caused them.
type Delivery struct {
	// PerSecond is how many messages were sent a second.
	PerSecond int
	load.Sample
}

// board notes when messages were answered and when they arrived.
type board struct {
	mu        sync.Mutex
	answered  map[uuid.UUID]time.Time
	arrived   map[uuid.UUID]time.Time
	latencies []time.Duration
}

// note keeps one of a message's two times; the second makes a latency. An event that overtakes the answer took no time.
func (b *board) note(mine, other map[uuid.UUID]time.Time, id uuid.UUID, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, both := other[id]; !both {
		mine[id] = at
		return
	}
	answered, arrived := b.answered[id], b.arrived[id]
	if answered.IsZero() {
		answered = at
	} else {
		arrived = at
	}
	delete(other, id)
	b.latencies = append(b.latencies, max(arrived.Sub(answered), 0))
}

// MeasureDelivery sends messages at a steady rate for a while and waits for their events. agents must have no unacknowledged
// events; every second of them sends, to its friend.
func MeasureDelivery(ctx context.Context, server *world.Process, agents []*world.Agent, perSecond int, length time.Duration) (Delivery, error) {
	b := &board{answered: make(map[uuid.UUID]time.Time), arrived: make(map[uuid.UUID]time.Time)}
	var recipients []*world.Agent
	for i := range senders {
		recipients = append(recipients, agents[2*i].Friend)
	}
	conns, err := openMany(ctx, server.Address, recipients, senders, largeBuffer)
	if err != nil {
		closeAll(conns)
		return Delivery{}, err
	}
	var readers sync.WaitGroup
	for _, conn := range conns {
		readers.Go(func() { b.read(conn) })
	}
	defer readers.Wait()
	defer closeAll(conns)
	var (
		writers sync.WaitGroup
		errs    = make([]error, senders)
		begun   = time.Now()
		pause   = time.Second * senders / time.Duration(perSecond)
	)
	for i := range senders {
		writers.Go(func() {
			first := begun.Add(pause * time.Duration(i) / senders)
			errs[i] = b.send(ctx, server.Address, agents[2*i], first, pause, begun.Add(length))
		})
	}
	writers.Wait()
	if err := errors.Join(errs...); err != nil {
		return Delivery{}, err
	}
	return b.finish(ctx, perSecond, time.Since(begun))
}

// send writes to the agent's friend each time a pause has gone by. It connects when its turn first comes, since a server need not wait
// for ever for a first request.
func (b *board) send(ctx context.Context, address string, a *world.Agent, at time.Time, pause time.Duration, end time.Time) error {
	if err := until(ctx, at); err != nil {
		return err
	}
	client, err := load.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // all answers have been read
	var buffer []byte
	for ; at.Before(end); at = at.Add(pause) {
		if err := until(ctx, at); err != nil {
			return err
		}
		var id uuid.UUID
		buffer, id = scenarios.Envelope(buffer[:0], a)
		if _, err := client.Expect(201, buffer); err != nil {
			return err
		}
		b.note(b.answered, b.arrived, id, time.Now())
	}
	return nil
}

// until waits for a time.
func until(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(at)):
		return nil
	}
}

// read notes and acknowledges events until the connection is closed.
func (b *board) read(conn *websocket.Conn) {
	for {
		_, raw, err := conn.ReadMessage()
		if err != nil {
			return
		}
		now := time.Now()
		var got struct {
			Type    string    `json:"type"`
			ID      uuid.UUID `json:"event_id"`
			Payload struct {
				ClientMessageID uuid.UUID `json:"client_message_id"`
			} `json:"payload"`
		}
		if json.Unmarshal(raw, &got) != nil || got.Type != "event" {
			continue
		}
		b.note(b.arrived, b.answered, got.Payload.ClientMessageID, now)
		if conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"ack","event_id":"%s"}`, got.ID)) != nil {
			return
		}
	}
}
