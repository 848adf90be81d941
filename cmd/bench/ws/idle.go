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
	// firstSockets make the server open its database connections and grow its pools, which further sockets share.
	firstSockets = 500
	// spareFiles are the open files that are left for everything but sockets.
	spareFiles = 500
	// settleTime is how long the server is left alone before its memory or processor time is read.
	settleTime = 2 * time.Second
)

// Idle is what idle sockets cost the server.
type Idle struct {
	// Sockets is the number of sockets opened after the first 500.
	Sockets int
	// PerSocket is the growth of resident memory in each round, in bytes for one socket.
	PerSocket []float64
	// After is the memory with all sockets open.
	After machine.Memory
}

// MeasureIdle opens the first sockets and then up to count more in rounds, as many as the limit on open files allows, and reads
// the server's memory after each round.
func MeasureIdle(ctx context.Context, server *world.Process, agents []*world.Agent, count int) (Idle, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return Idle{}, err
	}
	each := min(count, int(min(files.Cur, 1<<20))-firstSockets-spareFiles) / Rounds
	if each < 1 {
		return Idle{}, fmt.Errorf("ws: the limit of %d open files is too low", files.Cur)
	}
	result := Idle{Sockets: each * Rounds}
	var all []*websocket.Conn
	defer func() { closeAll(all) }()
	for round := range Rounds + 1 {
		sockets := each
		if round == 0 {
			sockets = firstSockets
		}
		conns, err := openMany(ctx, server.Address, agents, sockets, smallBuffer)
		all = append(all, conns...)
		if err != nil {
			return Idle{}, fmt.Errorf("ws: socket %d: %w", len(all)+1, err)
		}
		// What a handshake leaves behind is garbage.
		if err := server.CollectGarbage(ctx); err != nil {
			return Idle{}, err
		}
		if err := waitUntil(ctx, time.Now().Add(settleTime)); err != nil {
			return Idle{}, err
		}
		before := result.After
		if result.After, err = machine.MemoryOf(server.PID); err != nil {
			return Idle{}, err
		}
		if round > 0 {
			result.PerSocket = append(result.PerSocket, float64(result.After.Resident-before.Resident)/float64(each))
		}
	}
	return result, nil
}
