package where

import (
	"context"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/world"
)

// used is the processor time of the processes so far, in microseconds.
type used struct{ server, children, postgres float64 }

func readUsed(w *world.World, server *world.Process) (u used, err error) {
	alone, err := machine.CPU(server.PID)
	if err != nil {
		return u, err
	}
	whole, err := machine.TreeCPU(server.PID)
	if err != nil {
		return u, err
	}
	postgres, err := machine.TreeCPU(w.Postmaster)
	return used{micros(alone), micros(whole - alone), micros(postgres)}, err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// allocated sums up the allocations of the server so far.
type allocated struct{ objects, bytes float64 }

func readAllocated(ctx context.Context, server *world.Process) (allocated, error) {
	const objects, bytes = "go_memstats_mallocs_total", "go_memstats_alloc_bytes_total"
	figures, err := server.Metrics(ctx, objects, bytes)
	return allocated{figures[objects], figures[bytes]}, err
}
