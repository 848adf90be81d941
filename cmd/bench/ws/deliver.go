package ws

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

const (
	// senders is the number of agents that send, each to its own friend.
	senders = 64
	// eventBuffer is large enough for an event with its message.
	eventBuffer = 4 << 10
	// deliveryTimeout is the time after which an event counts as lost.
	deliveryTimeout = 10 * time.Second
	// Rounds is the number of rounds into which each measurement of this package is divided.
	Rounds = 12
)

// Delivery is how long events took from the response to the message until they arrived.
type Delivery struct {
	// PerSecond is the number of messages a second.
	PerSecond int
	// Rounds are the latencies of each round, ascending.
	Rounds [][]time.Duration
}

// tracker matches responses with events.
type tracker struct {
	mu        sync.Mutex
	responded map[uuid.UUID]time.Time
	arrived   map[uuid.UUID]time.Time
	latencies []time.Duration
}

// add notes one of the two times of a message in mine, or, when the other one is known, its latency. An event that arrives before
// the response has the latency 0.
func (t *tracker) add(mine, other map[uuid.UUID]time.Time, id uuid.UUID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, both := other[id]; !both {
		mine[id] = at
		return
	}
	responded, arrived := t.responded[id], t.arrived[id]
	if responded.IsZero() {
		responded = at
	} else {
		arrived = at
	}
	delete(other, id)
	t.latencies = append(t.latencies, max(arrived.Sub(responded), 0))
}

// waiting reports whether an event is still missing.
func (t *tracker) waiting() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.responded) > 0
}

// MeasureDelivery sends messages at a steady rate for length and waits for their events. Every second one of agents sends, to its
// friend. They must have no unacknowledged events.
func MeasureDelivery(
	ctx context.Context, server *world.Process, agents []*world.Agent, perSecond int, length time.Duration,
) (Delivery, error) {
	t := &tracker{responded: make(map[uuid.UUID]time.Time), arrived: make(map[uuid.UUID]time.Time)}
	var recipients []*world.Agent
	for i := range senders {
		recipients = append(recipients, agents[2*i].Friend)
	}
	conns, err := openMany(ctx, server.Address, recipients, senders, eventBuffer)
	if err != nil {
		closeAll(conns)
		return Delivery{}, err
	}
	var readers sync.WaitGroup
	for _, conn := range conns {
		readers.Go(func() { t.read(conn) })
	}
	defer readers.Wait()
	defer closeAll(conns)
	var (
		writers  sync.WaitGroup
		errs     = make([]error, senders)
		start    = time.Now()
		interval = time.Second * senders / time.Duration(perSecond)
	)
	for i := range senders {
		writers.Go(func() {
			first := start.Add(interval * time.Duration(i) / senders)
			errs[i] = t.send(ctx, server.Address, agents[2*i], first, interval, start.Add(length))
		})
	}
	writers.Wait()
	if err := errors.Join(errs...); err != nil {
		return Delivery{}, err
	}
	if err := t.wait(ctx); err != nil {
		return Delivery{}, err
	}
	d := Delivery{PerSecond: perSecond}
	for round := range slices.Chunk(t.latencies, max((len(t.latencies)+Rounds-1)/Rounds, 1)) {
		d.Rounds = append(d.Rounds, slices.Sorted(slices.Values(round)))
	}
	return d, nil
}

// send sends a message to the agent's friend at each interval. It connects at the first one, since the server closes connections
// that send nothing.
func (t *tracker) send(
	ctx context.Context, address string, a *world.Agent, at time.Time, interval time.Duration, end time.Time,
) error {
	if err := waitUntil(ctx, at); err != nil {
		return err
	}
	client, err := load.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // all responses were read
	var buffer []byte
	for ; at.Before(end); at = at.Add(interval) {
		if err := waitUntil(ctx, at); err != nil {
			return err
		}
		var id uuid.UUID
		buffer, id = scenarios.AppendMessage(buffer[:0], a)
		if _, err := client.Expect(201, buffer); err != nil {
			return err
		}
		t.add(t.responded, t.arrived, id, time.Now())
	}
	return nil
}

// read notes and acknowledges events until the connection is closed.
func (t *tracker) read(conn *websocket.Conn) {
	for {
		_, raw, err := conn.ReadMessage()
		if err != nil {
			return
		}
		now := time.Now()
		var event frame
		if json.Unmarshal(raw, &event) != nil || event.Type != "event" {
			continue
		}
		t.add(t.arrived, t.responded, event.Payload.ClientMessageID, now)
		if conn.WriteMessage(websocket.TextMessage, acknowledge(event.ID)) != nil {
			return
		}
	}
}

var errLost = errors.New("ws: an event did not arrive")

// wait waits for missing events.
func (t *tracker) wait(ctx context.Context) error {
	const interval = 10 * time.Millisecond
	deadline := time.Now().Add(deliveryTimeout)
	for t.waiting() {
		if time.Now().After(deadline) {
			return errLost
		}
		if err := waitUntil(ctx, time.Now().Add(interval)); err != nil {
			return err
		}
	}
	return nil
}
