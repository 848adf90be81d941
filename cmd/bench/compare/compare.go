// Package compare measures variants of the same operation against each other on one database: the server, the minimal server, and
// direct calls of the statements that the minimal server uses.
//
// All variants of a scenario are measured once in each round, in random order, so that whatever else the machine does affects
// them alike. A ratio within a round is therefore more reliable than an absolute figure.
package compare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// The names of the variants.
const (
	Server  = "server"
	Minimal = "minimal"
	// Direct calls the statements from Go, in the process of the load generator, and reads the rows into structs.
	Direct = "direct"
	// Plain is the minimal server on tables that have only what correctness needs.
	Plain = "plain"
)

// Variant is one implementation of the scenarios.
type Variant struct {
	Name string
	// Process answers HTTP; nil for direct calls.
	Process *world.Process
	// DB runs direct calls.
	DB *baseline.DB
	// World has the database and the agents of this variant; nil for that of all.
	World *world.World
}

// Plan says how often and how long each variant is measured.
type Plan struct {
	Rounds int
	Length time.Duration
	// Warmup is how long each variant runs before the first round, unmeasured.
	Warmup time.Duration
}

// Result holds the measurements of one variant in one round.
type Result struct {
	Scenario    string
	Variant     string
	Connections int
	Round       int
	Ops         int
	PerSecond   float64
	P50, P99    time.Duration
	// ProcessTime and PostgresTime are the processor time of an operation.
	ProcessTime, PostgresTime time.Duration
	// Objects and Bytes are the allocations of the process for an operation.
	Objects, Bytes float64
}

// Run measures the variants of a scenario with a number of connections.
func (p Plan) Run(
	ctx context.Context, w *world.World, s scenarios.Scenario, connections int, variants []Variant,
) ([]Result, error) {
	variants = slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool {
		return v.Process != nil && s.HTTP == nil || v.Name == Plain && !s.Writes
	})
	callers := make([][]load.Op, len(variants))
	for i, v := range variants {
		if v.World == nil {
			variants[i].World = w
		}
		ops, closeAll, err := variants[i].callers(ctx, s, connections)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Name, v.Name, err)
		}
		defer closeAll()
		callers[i] = ops
		if _, err := load.Run(ctx, ops, p.Warmup); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Name, v.Name, err)
		}
	}
	var all []Result
	for round := range p.Rounds {
		for _, i := range rand.Perm(len(variants)) {
			r, err := variants[i].measure(ctx, callers[i], p.Length)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.Name, variants[i].Name, err)
			}
			r.Scenario, r.Variant, r.Connections, r.Round = s.Name, variants[i].Name, connections, round+1
			all = append(all, r)
		}
	}
	return all, nil
}

// callers makes that number of callers, each with an agent and its own connection. closeAll closes the connections.
func (v Variant) callers(
	ctx context.Context, s scenarios.Scenario, count int,
) (ops []load.Op, closeAll func(), err error) {
	var clients []*load.Client
	closeAll = func() {
		for _, client := range clients {
			_ = client.Close() // not used any more
		}
	}
	for i := range count {
		agent := v.World.Agents[2*i%len(v.World.Agents)]
		if v.Process == nil {
			ops = append(ops, s.Direct(agent, v.DB))
			continue
		}
		client, err := load.Dial(ctx, v.Process.Address)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		clients = append(clients, client)
		ops = append(ops, s.HTTP(agent, client))
	}
	return ops, closeAll, nil
}

// measure runs the callers of the variant for a while.
func (v Variant) measure(ctx context.Context, callers []load.Op, length time.Duration) (Result, error) {
	// Reading /metrics allocates, too: the difference of the first two readings is the cost of one reading.
	var objects, bytes [3]float64
	for i := range 2 {
		if err := v.readAllocations(ctx, &objects[i], &bytes[i]); err != nil {
			return Result{}, err
		}
	}
	processBefore, postgresBefore, err := v.processorTime()
	if err != nil {
		return Result{}, err
	}
	sample, err := load.Run(ctx, callers, length)
	if err != nil {
		return Result{}, err
	}
	processAfter, postgresAfter, err := v.processorTime()
	if err != nil {
		return Result{}, err
	}
	if err := v.readAllocations(ctx, &objects[2], &bytes[2]); err != nil {
		return Result{}, err
	}
	n := float64(max(sample.Ops(), 1))
	return Result{
		Ops: sample.Ops(), PerSecond: sample.PerSecond(), P50: sample.Quantile(0.5), P99: sample.Quantile(0.99),
		ProcessTime:  time.Duration(float64(processAfter-processBefore) / n),
		PostgresTime: time.Duration(float64(postgresAfter-postgresBefore) / n),
		Objects:      max(objects[2]-2*objects[1]+objects[0], 0) / n,
		Bytes:        max(bytes[2]-2*bytes[1]+bytes[0], 0) / n,
	}, nil
}

// readAllocations reads how many objects and bytes the variant's process has allocated so far; 0 for direct calls.
func (v Variant) readAllocations(ctx context.Context, objects, bytes *float64) error {
	if v.Process == nil {
		return nil
	}
	const objectsName, bytesName = "go_memstats_mallocs_total", "go_memstats_alloc_bytes_total"
	figures, err := v.Process.Metrics(ctx, objectsName, bytesName)
	*objects, *bytes = figures[objectsName], figures[bytesName]
	return err
}

// processorTime returns the processor time of the variant's process and of PostgreSQL so far.
func (v Variant) processorTime() (process, postgres time.Duration, err error) {
	if v.Process != nil {
		if process, err = machine.CPU(v.Process.PID); err != nil {
			return 0, 0, err
		}
	}
	postgres, err = machine.TreeCPU(v.World.Postmaster)
	return process, postgres, err
}

var errGC = errors.New("compare: the variants do not have the same garbage collector settings")

// GCPercent returns the GOGC of the processes. It is an error when they differ.
func GCPercent(ctx context.Context, processes ...*world.Process) (percent int, err error) {
	const name = "go_gc_gogc_percent"
	for i, p := range processes {
		figures, err := p.Metrics(ctx, name)
		if err != nil {
			return 0, err
		}
		if i > 0 && percent != int(figures[name]) {
			return 0, errGC
		}
		percent = int(figures[name])
	}
	return percent, nil
}
