package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/ledger"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/search"
	"stoa/cmd/bench/world"
	"stoa/cmd/bench/ws"
)

const (
	// restTime is how long a new server is left alone before its memory is read, several times at an interval.
	restTime     = 10 * time.Second
	restReadings = 12
	restInterval = 500 * time.Millisecond
	// socketAgents is the first agent of the event sockets; scenarios send nothing to the agents from here on.
	socketAgents = 256
	// closedTime is the time in which the server notices that sockets were closed.
	closedTime = 2 * time.Second
	// growthConnections is the number of connections at which the server is measured at each size.
	growthConnections = 16
	// overrun is the time that a comparison may take beyond its rounds.
	overrun = 2 * time.Minute
	// profileSeconds is the length of a profile.
	profileSeconds = 5
)

// isolationConnections are the numbers of connections of GET /bots/me while searches run.
var isolationConnections = []int{1, 16}

// measureIdleServer measures a server that has served no requests yet: its memory at rest, and event sockets.
func (r *run) measureIdleServer(ctx context.Context) error {
	if !r.wants(memoryPart, silentPart, deliveryPart) {
		return nil
	}
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	agents := r.world.Agents[socketAgents:]
	if r.wants(memoryPart) {
		r.logf("memory at rest")
		if err := r.attempt(ctx, r.measureRest(ctx, server)); err != nil {
			return err
		}
		r.logf("idle sockets")
		r.data.Idle, err = ws.MeasureIdle(ctx, server, agents, r.Sockets)
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
	}
	if r.wants(silentPart) {
		r.logf("sockets that acknowledge nothing")
		r.data.Silent, err = ws.MeasureSilent(ctx, r.world, server, agents, r.Silent, r.SilentRound)
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
	}
	if !r.wants(deliveryPart) {
		return nil
	}
	for _, rate := range r.Rates {
		if err := pause(ctx, closedTime); err != nil {
			return err
		}
		r.logf("delivery of %d messages a second", rate)
		d, err := ws.MeasureDelivery(ctx, server, agents, rate, r.Delivery)
		if err == nil {
			r.data.Deliveries = append(r.data.Deliveries, d)
		}
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// measurePolls measures polls that wait, on their own server: memory that sockets have given back would not grow again.
func (r *run) measurePolls(ctx context.Context) error {
	if !r.wants(memoryPart) {
		return nil
	}
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	r.logf("polls that wait")
	r.data.Polls, err = ws.MeasurePolls(ctx, server, r.world.Agents[socketAgents:], r.Polls)
	return r.attempt(ctx, err)
}

func (r *run) measureRest(ctx context.Context, server *world.Process) error {
	wait := restTime
	for range restReadings {
		if err := pause(ctx, wait); err != nil {
			return err
		}
		reading, err := machine.MemoryOf(server.PID)
		if err != nil {
			return err
		}
		r.data.AtRest = append(r.data.AtRest, reading)
		wait = restInterval
	}
	return nil
}

// measureScenarios measures the server alone at this size, and at the last size all variants.
func (r *run) measureScenarios(ctx context.Context, last bool) (err error) {
	chosen := r.compared()
	if !last {
		chosen = nil
	}
	if !r.wants(growthPart) && len(chosen) == 0 {
		return nil
	}
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	alone := compare.Variant{Name: compare.Server, Process: server}
	if r.wants(growthPart) {
		if err := r.measureGrowth(ctx, alone); err != nil {
			return err
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	gcPercent, err := compare.GCPercent(ctx, server)
	if err != nil {
		return err
	}
	minimal, err := r.world.Minimal(ctx, gcPercent, baseline.OwnSchema)
	if err != nil {
		return err
	}
	defer minimal.Stop()
	if r.data.GCPercent, err = compare.GCPercent(ctx, server, minimal); err != nil {
		return err
	}
	plain, err := r.plain(ctx, chosen, gcPercent)
	if err != nil {
		return err
	}
	for _, v := range plain {
		defer v.Process.Stop()
	}
	db, err := baseline.Open(ctx, r.world.URL, baseline.OwnSchema)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r.data.Plan = r.plan()
	r.data.Agents, r.data.Posts = r.world.Size()
	variants := append([]compare.Variant{alone, {Name: compare.Minimal, Process: minimal}, {Name: compare.Direct, DB: db}}, plain...)
	for _, s := range chosen {
		if err := r.compareVariants(ctx, s, variants); err != nil {
			return err
		}
	}
	r.data.AfterLoad, err = machine.MemoryOf(server.PID)
	return err
}

// plain makes the plain tables and starts the minimal server on them, if a scenario needs them.
func (r *run) plain(ctx context.Context, chosen []scenarios.Scenario, gcPercent int) ([]compare.Variant, error) {
	if !slices.ContainsFunc(chosen, func(s scenarios.Scenario) bool { return s.Writes }) {
		return nil, nil
	}
	r.logf("copying the rows into plain tables")
	if err := baseline.InstallPlain(ctx, r.world.DB); err != nil {
		return nil, err
	}
	if _, err := r.world.DB.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return nil, err
	}
	process, err := r.world.Minimal(ctx, gcPercent, baseline.PlainSchema)
	return []compare.Variant{{Name: compare.Plain, Process: process}}, err
}

func (r *run) plan() compare.Plan {
	return compare.Plan{Rounds: r.Rounds, Length: r.Length, Warmup: r.Length}
}

// measureGrowth measures the server alone in every scenario that the database has enough posts for.
func (r *run) measureGrowth(ctx context.Context, server compare.Variant) error {
	size := report.Size{}
	size.Agents, size.Posts = r.world.Size()
	for _, s := range scenarios.All {
		if s.HTTP == nil || s.Posts > size.Posts {
			continue
		}
		r.logf("%s, the server alone, %d agents", s.Name, size.Agents)
		results, err := r.runPlan(ctx, r.plan(), s, growthConnections, []compare.Variant{server})
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
		size.Results = append(size.Results, results...)
	}
	r.data.Growth, r.data.GrowthConnections = append(r.data.Growth, size), growthConnections
	return nil
}

// compareVariants compares all variants of a scenario at every number of connections.
func (r *run) compareVariants(ctx context.Context, s scenarios.Scenario, variants []compare.Variant) error {
	different, err := compare.Differences(ctx, r.world, s, variants[0], variants[1])
	if err := r.attempt(ctx, err); err != nil {
		return err
	}
	r.data.Differences = append(r.data.Differences, different...)
	for _, n := range r.Connections {
		r.logf("%s, %d connections", s.Name, n)
		results, err := r.runPlan(ctx, r.plan(), s, n, variants)
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
		r.data.Results = append(r.data.Results, results...)
	}
	if r.Profiles != "" && s.HTTP != nil {
		return r.attempt(ctx, r.profile(ctx, s, variants[0]))
	}
	return nil
}

// runPlan runs a plan with a timeout.
func (r *run) runPlan(
	ctx context.Context, plan compare.Plan, s scenarios.Scenario, connections int, variants []compare.Variant,
) ([]compare.Result, error) {
	length := time.Duration(len(variants)) * (plan.Warmup + time.Duration(plan.Rounds)*plan.Length)
	ctx, cancel := context.WithTimeout(ctx, length+overrun)
	defer cancel()
	return plan.Run(ctx, r.world, s, connections, variants)
}

// profile writes a processor profile of the server alone.
func (r *run) profile(ctx context.Context, s scenarios.Scenario, server compare.Variant) error {
	r.logf("%s, a profile", s.Name)
	if err := os.MkdirAll(r.Profiles, 0o750); err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		written <- writeFile(filepath.Join(r.Profiles, s.Name+".pprof"), func(to io.Writer) error {
			return server.Process.Profile(ctx, profileSeconds, to)
		})
	}()
	plan := compare.Plan{Rounds: 1, Length: (profileSeconds + 1) * time.Second}
	_, err := r.runPlan(ctx, plan, s, growthConnections, []compare.Variant{server})
	return errors.Join(err, <-written)
}

func (r *run) measureLedger(ctx context.Context) error {
	if !r.wants(ledgerPart) {
		return nil
	}
	r.logf("reconciling %d ledger entries", r.Entries)
	var err error
	r.data.Ledger, err = ledger.Measure(ctx, r.world, r.Entries)
	return r.attempt(ctx, err)
}

// measureSearches measures searches over long texts and what they do to others.
func (r *run) measureSearches(ctx context.Context) error {
	if !r.wants(textsPart, isolationPart) {
		return nil
	}
	r.logf("adding %d tasks of 4 KB", r.Tasks)
	if err := r.world.AddTasks(ctx, r.Tasks); err != nil {
		return r.attempt(ctx, err)
	}
	r.data.Tasks = r.Tasks
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	if r.wants(textsPart) {
		r.logf("searches for %d texts", len(world.SearchTexts))
		r.data.Searches, err = search.MeasureTexts(ctx, server, world.SearchTexts, r.Rounds, r.Searches)
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
	}
	if !r.wants(isolationPart) {
		return nil
	}
	for _, n := range isolationConnections {
		r.logf("me, %d connections, while searches run", n)
		m, err := search.MeasureIsolation(ctx, r.world, server, n, r.Rounds, 3*r.Length)
		if err == nil {
			r.data.Isolation = append(r.data.Isolation, m)
		}
		if err := r.attempt(ctx, err); err != nil {
			return err
		}
	}
	return nil
}
