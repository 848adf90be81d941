package ws

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/lib/pq"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/world"
)

const (
	// window is the number of unacknowledged events that the server sends on one connection (§6).
	window = 256
	// moreEvents is the number of events that each agent has beyond the window.
	moreEvents = 10
)

// Silent holds the cost of sockets that acknowledge nothing.
type Silent struct {
	Sockets int
	// Length is the length of a round.
	Length time.Duration
	// None, Idle and Full are the processor time of the server and PostgreSQL in each round without sockets, with sockets without
	// events, and with sockets whose windows are full.
	None, Idle, Full []time.Duration
}

const (
	insertSilent = `
INSERT INTO events (id, created_at, recipient_id, kind, payload)
SELECT gen_random_uuid(), stoa_now(), recipient, 'order.changed',
  convert_to('{"order_id":"' || recipient || '","status":"funded","version":' || n || '}', 'UTF8')
FROM unnest($1::uuid[]) recipient, generate_series(1, $2::integer) n`
	deleteSilent = "DELETE FROM events WHERE recipient_id = ANY ($1::uuid[])"
)

// MeasureSilent opens count sockets, several for an agent if need be, and fills their windows. The agents must have no
// unacknowledged events.
func MeasureSilent(
	ctx context.Context, w *world.World, server *world.Process, agents []*world.Agent, count int, length time.Duration,
) (result Silent, err error) {
	result = Silent{Sockets: count, Length: length}
	if result.None, err = processorTime(ctx, w, server, length); err != nil {
		return Silent{}, err
	}
	agents = agents[:min(len(agents), count)]
	recipients := make([]string, len(agents))
	for i, a := range agents {
		recipients[i] = a.ID.String()
	}
	conns, err := openMany(ctx, server.Address, agents, count, smallBuffer)
	var filled, readers sync.WaitGroup
	defer readers.Wait()
	defer closeAll(conns)
	if err != nil {
		return Silent{}, err
	}
	for _, conn := range conns {
		filled.Add(1)
		readers.Go(func() { readOnly(conn, filled.Done) })
	}
	if result.Idle, err = processorTime(ctx, w, server, length); err != nil {
		return Silent{}, err
	}
	if _, err := w.DB.ExecContext(ctx, insertSilent, pq.Array(recipients), window+moreEvents); err != nil {
		return Silent{}, err
	}
	defer func() {
		_, failed := w.DB.ExecContext(context.WithoutCancel(ctx), deleteSilent, pq.Array(recipients))
		err = errors.Join(err, failed)
	}()
	filled.Wait()                                                             // a job of the server wakes the sockets
	if _, err := w.DB.ExecContext(ctx, "VACUUM ANALYZE events"); err != nil { // autovacuum would do it during a round
		return Silent{}, err
	}
	result.Full, err = processorTime(ctx, w, server, length)
	return result, err
}

// readOnly reads until the connection is closed. It calls full once, when the window is full or the connection is closed.
func readOnly(conn *websocket.Conn, full func()) {
	called := false
	for n := 1; ; n++ {
		_, _, err := conn.ReadMessage()
		if !called && (err != nil || n == window) {
			called = true
			full()
		}
		if err != nil {
			return
		}
	}
}

// processorTime measures the processor time of the server and PostgreSQL in rounds of a length.
func processorTime(ctx context.Context, w *world.World, server *world.Process, length time.Duration) ([]time.Duration, error) {
	if err := waitUntil(ctx, time.Now().Add(settleTime)); err != nil {
		return nil, err
	}
	var (
		rounds []time.Duration
		before time.Duration
	)
	for round := range Rounds + 1 {
		own, err := machine.CPU(server.PID)
		postgres, other := machine.TreeCPU(w.Postmaster)
		if err = errors.Join(err, other); err != nil {
			return nil, err
		}
		if round > 0 {
			rounds = append(rounds, own+postgres-before)
		}
		before = own + postgres
		if round == Rounds {
			break
		}
		if err := waitUntil(ctx, time.Now().Add(length)); err != nil {
			return nil, err
		}
	}
	return rounds, nil
}
