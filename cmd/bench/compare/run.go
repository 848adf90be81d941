package compare

import (
	"context"
	"fmt"
	"slices"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// Plan says how long is measured.
type Plan struct {
	Rounds int
	Length time.Duration
	// Warm is how long each contestant runs before the first round, unmeasured.
	Warm time.Duration
}

// Result is one contestant's share of one round.
type Result struct {
	Path        string
	Contestant  string
	Connections int
	Round       int
	Ops         int
	PerSecond   float64
	P50, P99    time.Duration
	// Process and Postgres are processor time an operation.
	Process, Postgres time.Duration
	// Objects and Bytes are what the process allocated, an operation.
	Objects, Bytes float64
}

// Run lets the contestants take turns at a path with so many connections.
func (p Plan) Run(ctx context.Context, w *world.World, path scenarios.Path, connections int, contestants []Contestant) ([]Result, error) {
	contestants = slices.DeleteFunc(slices.Clone(contestants), func(c Contestant) bool { return c.Process != nil && path.HTTP == nil })
	turns := make([]func(length time.Duration) (Result, error), len(contestants))
	for i, c := range contestants {
		ops, done, err := c.callers(ctx, w, path, connections)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path.Name, c.Name, err)
		}
		defer done() //nolint:errcheck // connections that are not used any more
		turns[i] = func(length time.Duration) (Result, error) { return c.turn(ctx, w, ops, length) }
		if _, err := turns[i](p.Warm); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path.Name, c.Name, err)
		}
	}
	var all []Result
	for round := range p.Rounds {
		for k := range turns {
			i := (k + round) % len(turns)
			if round%2 == 1 { // every contestant follows every other
				i = (len(turns) - k + round) % len(turns)
			}
			r, err := turns[i](p.Length)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path.Name, contestants[i].Name, err)
			}
			r.Path, r.Contestant, r.Connections, r.Round = path.Name, contestants[i].Name, connections, round+1
			all = append(all, r)
		}
	}
	return all, nil
}

// turn runs one contestant for a while.
func (c Contestant) turn(ctx context.Context, w *world.World, ops []load.Op, length time.Duration) (Result, error) {
	before, err := c.cost(ctx, w)
	if err != nil {
		return Result{}, err
	}
	sample, err := load.Run(ctx, ops, length)
	if err != nil {
		return Result{}, err
	}
	after, err := c.cost(ctx, w)
	if err != nil {
		return Result{}, err
	}
	n := float64(max(sample.Ops(), 1))
	return Result{
		Ops: sample.Ops(), PerSecond: sample.PerSecond(),
		P50: sample.Quantile(0.5), P99: sample.Quantile(0.99),
		Process:  time.Duration(float64(after.process-before.process) / n),
		Postgres: time.Duration(float64(after.postgres-before.postgres) / n),
		Objects:  (after.objects - before.objects) / n,
		Bytes:    (after.bytes - before.bytes) / n,
	}, nil
}
