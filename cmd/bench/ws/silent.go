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
	// window is how many unacknowledged events the server sends on one connection (contract §8).
	window = 256
	// behind is how many more events each agent has.
	behind = 10
)

// Silent is what sockets cost whose windows are full of events that nobody acknowledges.
type Silent struct {
	Sockets int
	// Length is how long each of the three was measured.
	Length time.Duration
	// None, Idle and Full are the processor time of the server and PostgreSQL without sockets, with sockets that have no events, and
	// with sockets whose windows are full.
	None, Idle, Full time.Duration
}

// Share is what the sockets cost, as a share of one core.
func (s Silent) Share() float64 { return float64(s.Full-s.None) / float64(s.Length) }

// Windows is the part of Share that sockets without events do not cost.
func (s Silent) Windows() float64 { return float64(s.Full-s.Idle) / float64(s.Length) }

const (
	insertSilent = `
INSERT INTO events (id, created_at, recipient_id, kind, payload)
SELECT gen_random_uuid(), stoa_now(), recipient, 'order.changed',
  convert_to('{"order_id":"' || recipient || '","status":"funded","version":' || n || '}', 'UTF8')
FROM unnest($1::uuid[]) recipient, generate_series(1, $2::integer) n`
	deleteSilent = "DELETE FROM events WHERE recipient_id = ANY ($1::uuid[])"
)

// MeasureSilent fills the windows of count sockets, several for each agent if need be, and leaves them alone for a while. The
// agents must have no unacknowledged events.
func MeasureSilent(
	ctx context.Context, w *world.World, server *world.Process, agents []*world.Agent, count int, length time.Duration,
) (result Silent, err error) {
	result = Silent{Sockets: count, Length: length}
	if result.None, err = used(ctx, w, server, length); err != nil {
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
		readers.Go(func() { listen(conn, filled.Done) })
	}
	if err := until(ctx, time.Now().Add(calm)); err != nil {
		return Silent{}, err
	}
	if result.Idle, err = used(ctx, w, server, length); err != nil {
		return Silent{}, err
	}
	if _, err := w.DB.ExecContext(ctx, insertSilent, pq.Array(recipients), window+behind); err != nil {
		return Silent{}, err
	}
	defer func() {
		_, gone := w.DB.ExecContext(context.WithoutCancel(ctx), deleteSilent, pq.Array(recipients))
		err = errors.Join(err, gone)
	}()
	filled.Wait()                                                             // the job that wakes who waits tells the sockets
	if _, err := w.DB.ExecContext(ctx, "VACUUM ANALYZE events"); err != nil { // it would run at some time anyway
		return Silent{}, err
	}
	if err := until(ctx, time.Now().Add(calm)); err != nil {
		return Silent{}, err
	}
	result.Full, err = used(ctx, w, server, length)
	return result, err
}

// listen reads until the connection is closed. It tells when the window is full, or will not be any more.
func listen(conn *websocket.Conn, full func()) {
	told := false
	for n := 1; ; n++ {
		_, _, err := conn.ReadMessage()
		if !told && (err != nil || n == window) {
			told = true
			full()
		}
		if err != nil {
			return
		}
	}
}

// used is the processor time that the server and PostgreSQL take in a span of time.
func used(ctx context.Context, w *world.World, server *world.Process, length time.Duration) (time.Duration, error) {
	now := func() (time.Duration, error) {
		own, err := machine.CPU(server.PID)
		postgres, other := machine.TreeCPU(w.Postmaster)
		return own + postgres, errors.Join(err, other)
	}
	before, err := now()
	if err != nil {
		return 0, err
	}
	if err := until(ctx, time.Now().Add(length)); err != nil {
		return 0, err
	}
	after, err := now()
	return after - before, err
}
