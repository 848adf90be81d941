package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
	"stoa/cmd/bench/ws"
)

// messagesCommand compares three databases that differ in their messages alone.
type messagesCommand struct {
	Server      string        `default:"bin/stoa" help:"The program to measure."`
	Messages    int           `default:"50000000" help:"Number of messages; a million takes 0.8 GB of the disk in each of two databases."`
	Agents      int           `default:"10000" help:"Number of agents."`
	Connections int           `default:"16" help:"Number of connections."`
	Rounds      int           `default:"12" help:"Number of rounds."`
	Length      time.Duration `default:"1s" help:"Length of a round for each database."`
	Rate        int           `default:"50" help:"Messages a second of delivery."`
	Delivery    time.Duration `default:"6s" help:"Length of delivery for each database, three times."`
	Weekly      bool          `default:"true" negatable:"" help:"Also measure a table with a partition a week."`
	Dir         string        `help:"Folder for the databases; empty: the system's temporary folder."`
	Deadline    time.Duration `default:"2h" help:"Time after which the run is given up."`
}

const (
	// deliveries is how often delivery is measured on each database, in turns.
	deliveries = 3
	// fewPerAgent messages fill the newest page of a dialog.
	fewPerAgent = 60
)

// Validate refuses impossible numbers.
func (c *messagesCommand) Validate() error {
	if c.Agents < minAgents || min(c.Messages, c.Connections, c.Rounds, c.Rate) < 1 || min(c.Length, c.Delivery) <= 0 {
		return fmt.Errorf("at least %d agents; all numbers and lengths must be positive", minAgents)
	}
	return nil
}

// Run measures, and prints the tables.
func (c *messagesCommand) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	start := time.Now()
	found := report.Messages{Messages: c.Messages, Agents: c.Agents, Connections: c.Connections, Rate: c.Rate, Machine: machine.Describe()}
	if found.Commit, err = versionOf(ctx, c.Server); err != nil {
		return err
	}
	var variants []compare.Variant
	for _, kept := range []struct {
		name   string
		count  int
		weekly bool
	}{{report.Few, fewPerAgent * c.Agents, false}, {report.Whole, c.Messages, false}, {report.Weekly, c.Messages, true}} {
		if kept.weekly && !c.Weekly {
			continue
		}
		logProgressf(start, "making the database: %s", kept.name)
		w, failed := world.New(ctx, c.Dir)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		if err := w.Grow(ctx, c.Agents, 0); err != nil {
			return err
		}
		if err := w.FillMessages(ctx, kept.count, kept.weekly); err != nil {
			return err
		}
		server, err := w.Serve(ctx, c.Server)
		if err != nil {
			return err
		}
		defer server.Stop()
		variants = append(variants, compare.Variant{Name: kept.name, Process: server, World: w})
	}
	plan := compare.Plan{Rounds: c.Rounds, Length: c.Length, Warmup: 2 * c.Length}
	for _, s := range []scenarios.Scenario{scenarios.Dialog, scenarios.Send} {
		logProgressf(start, "%s", s.Name)
		results, err := plan.Run(ctx, nil, s, c.Connections, variants)
		if err != nil {
			return err
		}
		found.Results = append(found.Results, results...)
	}
	for range deliveries {
		for _, v := range variants {
			logProgressf(start, "delivery: %s", v.Name)
			d, err := ws.MeasureDelivery(ctx, v.Process, v.World.Agents[socketAgents:], c.Rate, c.Delivery)
			if err != nil {
				return err
			}
			found.Deliveries = append(found.Deliveries, report.MessagesDelivery{Variant: v.Name, Delivery: d})
		}
	}
	for _, v := range variants[1:] {
		logProgressf(start, "removing the oldest messages: %s", v.Name)
		v.Process.Stop()
		if err := pause(ctx, closedTime); err != nil { // the time of processes that end now would count
			return err
		}
		removal, err := v.World.RemoveOldest(ctx, v.Name == report.Weekly)
		if err != nil {
			return err
		}
		found.Removals = append(found.Removals, report.MessagesRemoval{Variant: v.Name, Removal: removal})
	}
	found.Took = time.Since(start).Round(time.Second)
	return found.Page(os.Stdout)
}
