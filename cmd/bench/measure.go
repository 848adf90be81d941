package main

import (
	"context"
	"errors"
	"time"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/scenarios"
)

const (
	// warm is how long each contestant runs unmeasured.
	warm = 500 * time.Millisecond
	// grownConnections and grownRounds are those at which the server is measured at each size.
	grownConnections = 16
	grownRounds      = 3
	// slack is what a contest may take beyond its turns.
	slack = 2 * time.Minute
)

// measure starts the contestants on the database as it is and lets them run: the server alone, for the growth, and at the last size
// all of them.
func (r *run) measure(ctx context.Context, last bool) (err error) {
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	alone := compare.Contestant{Name: compare.Server, Process: server}
	if r.wants(growthPart) {
		if err := r.grown(ctx, alone); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	minimal, err := r.world.Minimal(ctx)
	if err != nil {
		return err
	}
	defer minimal.Stop()
	db, err := baseline.Open(ctx, r.world.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	contestants := []compare.Contestant{alone, {Name: compare.Minimal, Process: minimal}, {Name: compare.SQL, DB: db}}
	for _, path := range r.contested() {
		if err := r.hold(ctx, path, contestants); err != nil {
			return err
		}
	}
	r.data.AfterLoad, err = machine.MemoryOf(server.PID)
	return err
}

// grown measures the server alone on every path that the database has enough posts for.
func (r *run) grown(ctx context.Context, server compare.Contestant) error {
	size := report.Size{}
	size.Agents, size.Posts = r.world.Size()
	plan := compare.Plan{Rounds: grownRounds, Length: r.Length, Warm: warm}
	for _, path := range scenarios.All {
		if path.HTTP == nil || path.Posts > size.Posts {
			continue
		}
		r.sayf("%s, the server alone, %d agents", path.Name, size.Agents)
		results, err := r.contest(ctx, plan, path, grownConnections, []compare.Contestant{server})
		if err := r.note(ctx, err); err != nil {
			return err
		}
		size.Results = append(size.Results, results...)
	}
	r.data.Growth, r.data.GrownConnections = append(r.data.Growth, size), grownConnections
	return nil
}

// hold lets all contestants do a path at every number of connections.
func (r *run) hold(ctx context.Context, path scenarios.Path, contestants []compare.Contestant) error {
	different, err := compare.Differences(ctx, r.world, path, contestants[0], contestants[1])
	if err := r.note(ctx, err); err != nil {
		return err
	}
	r.data.Differences = append(r.data.Differences, different...)
	r.data.Plan = compare.Plan{Rounds: r.Rounds, Length: r.Length, Warm: warm}
	r.data.Agents, r.data.Posts = r.world.Size()
	for _, n := range r.Connections {
		r.sayf("%s, %d connections", path.Name, n)
		results, err := r.contest(ctx, r.data.Plan, path, n, contestants)
		if err := r.note(ctx, err); err != nil {
			return err
		}
		r.data.Results = append(r.data.Results, results...)
	}
	if r.Profiles != "" && path.HTTP != nil {
		return r.note(ctx, r.profile(ctx, path, contestants[0]))
	}
	return nil
}

// note keeps a failure for the report, so that one path does not cost the others their figures. It returns an error when the whole
// run is over.
func (r *run) note(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	r.sayf("failed: %v", err)
	r.data.Failures = append(r.data.Failures, err.Error())
	return nil
}

// contest runs a plan, but not for ever.
func (r *run) contest(ctx context.Context, plan compare.Plan, path scenarios.Path, connections int, contestants []compare.Contestant) ([]compare.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, slack+time.Duration(len(contestants))*(plan.Warm+time.Duration(plan.Rounds)*plan.Length))
	defer cancel()
	return plan.Run(ctx, r.world, path, connections, contestants)
}
