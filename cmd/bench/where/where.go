// Package where measures where the time of one operation goes: in which layers and functions of the server, and in which
// functions, statements and plans of PostgreSQL.
package where

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/postgres"
	"stoa/cmd/bench/profile"
	"stoa/cmd/bench/world"
)

// Plan says how each workload is measured.
type Plan struct {
	Connections int
	// WarmUp is how long a workload runs first, Count how long it is measured without profiles, Length how long it is profiled, in
	// whole seconds, and Plans how long it runs again while plans are logged.
	WarmUp, Count, Length, Plans time.Duration
}

// Result holds the measurements of one workload. Shares of the server are of Server, those of functions of PostgreSQL of Postgres.
type Result struct {
	Workload
	Connections    int
	Ops, PerSecond float64
	// Server, Children and Postgres are the processor time of an operation in microseconds. Children inspect files.
	Server, Children, Postgres float64
	// Objects and Bytes are the allocations of the server in an operation.
	Objects, Bytes float64
	Processor      profile.Split
	// AllocatedObjects and AllocatedBytes are the parts of the layers.
	AllocatedObjects, AllocatedBytes map[string]float64
	Functions                        []postgres.Function
	Statements                       []postgres.Statement
	Changes                          postgres.Changes
	// Written are counts of WrittenOps operations, with those before and after the profile.
	Written    postgres.Written
	WrittenOps float64
	Plans      []postgres.Plan
}

const (
	// plansKept is how many plans are kept, plansLogged how many calls are logged about.
	plansKept   = 3
	plansLogged = 200
	// settleTime is the time in which the database takes new settings over.
	settleTime = 100 * time.Millisecond
)

// Measure measures a workload on a new server. When that has stopped, the database has counted everything.
func Measure(ctx context.Context, w *world.World, program string, workload Workload, plan Plan) (r Result, err error) {
	r.Workload = workload
	before, err := postgres.ReadWritten(ctx, w.DB)
	if err != nil {
		return r, err
	}
	if err := w.Calm(ctx); err != nil {
		return r, err
	}
	server, err := w.Serve(ctx, program)
	if err != nil {
		return r, err
	}
	err = r.measure(ctx, w, server, plan)
	server.Stop()
	if err != nil {
		return r, err
	}
	after, err := postgres.ReadWritten(ctx, w.DB)
	r.Written = after.Since(before)
	return r, err
}

// measure runs the workload four times: to warm up, to count, to profile, and to log plans.
func (r *Result) measure(ctx context.Context, w *world.World, server *world.Process, plan Plan) error {
	callers, err := r.open(ctx, w, server.Address, plan.Connections)
	if err != nil {
		return err
	}
	defer callers.close()
	if _, err := load.Run(ctx, callers.ops, plan.WarmUp); err != nil {
		return err
	}
	if err := r.count(ctx, w, server, callers, plan.Count); err != nil {
		return err
	}
	recorded := make(chan error, 1)
	go func() { recorded <- r.record(ctx, w, server, plan.Length) }()
	_, err = load.Run(ctx, callers.ops, plan.Length+recordingTime)
	if err := errors.Join(err, <-recorded); err != nil {
		return err
	}
	if err := r.logPlans(ctx, w, callers, plan.Plans); err != nil {
		return err
	}
	r.Connections, r.WrittenOps = len(callers.ops), callers.count()
	return nil
}

// count counts what the processes, statements and changes cost while the workload runs.
func (r *Result) count(ctx context.Context, w *world.World, server *world.Process, callers *callers, length time.Duration) error {
	memory, err := readAllocated(ctx, server) // this makes statements, which must not count
	if err != nil {
		return err
	}
	if err := postgres.Reset(ctx, w.DB); err != nil {
		return err
	}
	from, err := postgres.Here(ctx, w.DB)
	if err != nil {
		return err
	}
	before := callers.count()
	began, err := readUsed(w, server)
	if err != nil {
		return err
	}
	sample, err := load.Run(ctx, callers.ops, length)
	if err != nil {
		return err
	}
	ended, err := readUsed(w, server)
	if err != nil {
		return err
	}
	r.Ops = callers.count() - before
	r.PerSecond = r.Ops / sample.Elapsed.Seconds()
	r.Server, r.Children, r.Postgres = ended.server-began.server, ended.children-began.children, ended.postgres-began.postgres
	if r.Statements, err = postgres.Statements(ctx, w.DB); err != nil {
		return err
	}
	to, err := postgres.Here(ctx, w.DB)
	if err != nil {
		return err
	}
	made, err := readAllocated(ctx, server)
	if err != nil {
		return err
	}
	r.Objects, r.Bytes = made.objects-memory.objects, made.bytes-memory.bytes
	r.Changes, err = postgres.ReadChanges(ctx, w.DB, from, to)
	r.scale()
	return err
}

// scale turns sums into figures of an operation.
func (r *Result) scale() {
	n := max(r.Ops, 1)
	for _, sum := range []*float64{
		&r.Server, &r.Children, &r.Postgres, &r.Objects, &r.Bytes, &r.Changes.Bytes, &r.Changes.Images, &r.Changes.Commits,
		&r.Changes.IndexInserts,
	} {
		*sum /= n
	}
	for i := range r.Changes.Indexes {
		r.Changes.Indexes[i].Count /= n
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		for _, sum := range []*float64{&s.Calls, &s.Micros, &s.Rows, &s.Hit, &s.Read, &s.Dirtied, &s.WAL} {
			*sum /= n
		}
	}
}

// recordingTime is how much longer the load lasts than the profiles.
const recordingTime = 500 * time.Millisecond

// record takes the profiles of the server and of PostgreSQL at the same time.
func (r *Result) record(ctx context.Context, w *world.World, server *world.Process, length time.Duration) error {
	seconds := int(length.Seconds())
	splits := []struct {
		take  func(context.Context, int, io.Writer) error
		bytes bytes.Buffer
		err   chan error
	}{{take: server.Profile}, {take: server.Allocations}}
	for i := range splits {
		s := &splits[i]
		s.err = make(chan error, 1)
		go func() { s.err <- s.take(ctx, seconds, &s.bytes) }()
	}
	processes, err := machine.Tree(w.Postmaster)
	if err == nil {
		file := filepath.Join(w.Folder(), "perf.data")
		r.Functions, err = postgres.Record(ctx, processes, length, file)
	}
	for i := range splits {
		err = errors.Join(err, <-splits[i].err)
	}
	if err != nil {
		return err
	}
	allocated := splits[1].bytes.Bytes()
	if r.Processor, err = profile.Read(&splits[0].bytes, profile.Processor); err != nil {
		return err
	}
	objects, err := profile.Read(bytes.NewReader(allocated), profile.Objects)
	if err != nil {
		return err
	}
	size, err := profile.Read(bytes.NewReader(allocated), profile.Bytes)
	r.AllocatedObjects, r.AllocatedBytes = profile.Parts(objects.Layers), profile.Parts(size.Layers)
	return err
}

// logPlans runs the workload once more with the log of plans on.
func (r *Result) logPlans(ctx context.Context, w *world.World, callers *callers, length time.Duration) (err error) {
	log := w.DatabaseLog()
	state, err := os.Stat(log)
	if err != nil {
		return err
	}
	calls := 0.0
	for _, s := range r.Statements {
		if !s.Inner {
			calls += s.Calls
		}
	}
	part := min(plansLogged/max(calls*r.PerSecond*length.Seconds(), 1), 1)
	if err := postgres.LogPlans(ctx, w.DB, part); err != nil {
		return err
	}
	if err := sleep(ctx, settleTime); err != nil {
		return err
	}
	_, err = load.Run(ctx, callers.ops, length)
	if err = errors.Join(err, postgres.StopPlans(ctx, w.DB)); err != nil {
		return err
	}
	if r.Plans, err = postgres.Slowest(log, state.Size(), plansKept); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
