package ws

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/world"
)

// spare descriptors are left to everything that is no socket.
const spare = 500

// calm is how long the server is left alone before its memory is read.
const calm = 3 * time.Second

// first sockets make a server open its connections to the database and grow its pools, which further ones share.
const first = 500

// Idle is what idle sockets cost a server.
type Idle struct {
	// Sockets are those opened after the first ones.
	Sockets int
	// Before and After are the server's memory without and with them.
	Before, After machine.Memory
}

// BytesPerSocket is the resident memory of one socket.
func (i Idle) BytesPerSocket() float64 {
	return float64(i.After.Resident-i.Before.Resident) / float64(i.Sockets)
}

// MeasureIdle opens the first sockets and then up to count more, as many as the limit on open files allows, and leaves them alone.
func MeasureIdle(ctx context.Context, server *world.Process, agents []*world.Agent, count int) (Idle, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return Idle{}, err
	}
	result := Idle{Sockets: min(count, int(min(files.Cur, 1<<20))-first-spare)}
	if result.Sockets < 1 {
		return Idle{}, fmt.Errorf("channel: the limit of %d open files leaves none for sockets", files.Cur)
	}
	for _, step := range []struct {
		sockets int
		memory  *machine.Memory
	}{{first, &result.Before}, {result.Sockets, &result.After}} {
		conns, err := openMany(ctx, server.Address, agents, step.sockets, smallBuffer)
		defer closeAll(conns)
		if err != nil {
			return Idle{}, fmt.Errorf("channel: socket number %d: %w", len(conns)+1, err)
		}
		// What the handshakes left behind is garbage, whenever the server would have come round to it.
		if err := server.Collect(ctx); err != nil {
			return Idle{}, err
		}
		select {
		case <-ctx.Done():
			return Idle{}, ctx.Err()
		case <-time.After(calm):
		}
		if *step.memory, err = machine.MemoryOf(server.PID); err != nil {
			return Idle{}, err
		}
	}
	return result, nil
}
