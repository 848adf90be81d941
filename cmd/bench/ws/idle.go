package ws

import (
	"context"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/world"
)

const (
	// firstConnections make the server open its database connections and grow its pools, which further ones share.
	firstConnections = 500
	// spareFiles are the open files that are left for everything but these connections.
	spareFiles = 500
	// settleTime is how long the server is left alone before its memory or processor time is read.
	settleTime = 2 * time.Second
)

// Idle holds the cost of connections on which nothing happens.
type Idle struct {
	// Connections is the number of those opened after the first 500.
	Connections int
	// Each is the growth of resident memory in each round, in bytes for one connection.
	Each []float64
	// After is the memory with all connections open.
	After machine.Memory
}

// MeasureIdle opens the first sockets and then up to count more in rounds, as many as the limit on open files allows, and reads
// the server's memory after each round.
func MeasureIdle(ctx context.Context, server *world.Process, agents []*world.Agent, count int) (Idle, error) {
	var all []*websocket.Conn
	defer func() { closeAll(all) }()
	return measureGrowth(ctx, server, count, func(n int) error {
		conns, err := openMany(ctx, server.Address, agents, n, smallBuffer)
		all = append(all, conns...)
		return err
	})
}

// MeasurePolls is MeasureIdle for polls that wait.
func MeasurePolls(ctx context.Context, server *world.Process, agents []*world.Agent, count int) (Idle, error) {
	ctx, cancel := context.WithCancel(ctx)
	var p pollers
	defer p.all.Wait()
	defer cancel()
	waiting := 0
	return measureGrowth(ctx, server, count, func(n int) error {
		for range n {
			p.start(ctx, server.Address, agents[waiting%len(agents)])
			waiting++
		}
		return p.await(ctx, server, waiting)
	})
}

// measureGrowth calls open for the first connections and then up to count more in rounds.
func measureGrowth(ctx context.Context, server *world.Process, count int, open func(n int) error) (Idle, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return Idle{}, err
	}
	each := min(count, int(min(files.Cur, 1<<20))-firstConnections-spareFiles) / Rounds
	if each < 1 {
		return Idle{}, fmt.Errorf("ws: the limit of %d open files is too low", files.Cur)
	}
	result := Idle{Connections: each * Rounds}
	for round := range Rounds + 1 {
		n := each
		if round == 0 {
			n = firstConnections
		}
		if err := open(n); err != nil {
			return Idle{}, fmt.Errorf("ws: connections of round %d: %w", round, err)
		}
		// What a handshake leaves behind is garbage.
		if err := server.CollectGarbage(ctx); err != nil {
			return Idle{}, err
		}
		if err := waitUntil(ctx, time.Now().Add(settleTime)); err != nil {
			return Idle{}, err
		}
		var err error
		before := result.After
		if result.After, err = machine.MemoryOf(server.PID); err != nil {
			return Idle{}, err
		}
		if round > 0 {
			result.Each = append(result.Each, float64(result.After.Resident-before.Resident)/float64(each))
		}
	}
	return result, nil
}
