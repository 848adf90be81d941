package compare

import (
	"context"
	"errors"
	"time"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// The contestants.
const (
	Server  = "server"
	Minimal = "minimal"
	SQL     = "sql"
)

// Contestant is one way to do what a path does.
type Contestant struct {
	Name string
	// Process is the one that answers HTTP, nil for bare SQL.
	Process *world.Process
	// DB is bare SQL's pool.
	DB *baseline.DB
}

// callers makes the operations of so many callers, each an agent of its own with a friend of its own, and what closes them.
func (c Contestant) callers(ctx context.Context, w *world.World, p scenarios.Path, count int) (ops []load.Op, done func() error, err error) {
	var clients []*load.Client
	done = func() error {
		var errs []error
		for _, client := range clients {
			errs = append(errs, client.Close())
		}
		return errors.Join(errs...)
	}
	for i := range count {
		agent := w.Agents[2*i%len(w.Agents)]
		if c.Process == nil {
			ops = append(ops, p.SQL(agent, c.DB))
			continue
		}
		client, err := load.Dial(ctx, c.Process.Address)
		if err != nil {
			return nil, nil, errors.Join(err, done())
		}
		clients = append(clients, client)
		ops = append(ops, p.HTTP(agent, client))
	}
	return ops, done, nil
}

// cost is what the contestant's process and PostgreSQL have used so far.
type cost struct {
	process, postgres time.Duration
	allocated
}

func (c Contestant) cost(ctx context.Context, w *world.World) (used cost, err error) {
	if c.Process != nil {
		if used.allocated, err = allocations(ctx, c.Process.Operator); err != nil {
			return used, err
		}
		if used.process, err = machine.CPU(c.Process.PID); err != nil {
			return used, err
		}
	}
	used.postgres, err = machine.TreeCPU(w.Postmaster)
	return used, err
}
