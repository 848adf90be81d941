package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/postgres"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/where"
	"stoa/cmd/bench/world"
)

// whereCommand measures where the time goes.
type whereCommand struct {
	Server      string        `default:"bin/stoa" help:"The program to measure."`
	Only        []string      `help:"Measure these operations only; write nothing."`
	Connections int           `default:"16" help:"Number of connections."`
	WarmUp      time.Duration `default:"2s" help:"Load before anything is measured."`
	Count       time.Duration `default:"5s" help:"Load during which costs are counted, without profiles."`
	Length      time.Duration `default:"10s" help:"Length of the profiles of an operation, in whole seconds."`
	Plans       time.Duration `default:"2s" help:"Load during which plans are logged."`
	Agents      int           `default:"20000" help:"Number of agents."`
	Out         string        `default:"docs" help:"Folder of performance.md."`
	Dir         string        `help:"Folder for the database; empty: the system's temporary folder."`
	Deadline    time.Duration `default:"20m" help:"Time after which the run is given up."`
}

// wherePage is the page that has the chapter.
const wherePage = "performance.md"

// Validate refuses unknown names and impossible numbers.
func (c *whereCommand) Validate() error {
	known := make([]string, len(where.All))
	for i, workload := range where.All {
		known[i] = workload.Name
	}
	for _, name := range c.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	switch {
	case c.Connections < 1 || c.Connections > where.MostConnections:
		return fmt.Errorf("--connections: from 1 to %d", where.MostConnections)
	case c.Length < time.Second || min(c.WarmUp, c.Count, c.Plans) <= 0:
		return errors.New("--length must be a second or more, --warm-up, --count and --plans positive")
	case c.Agents < minAgents:
		return fmt.Errorf("--agents: at least %d", minAgents)
	}
	return nil
}

// Run measures the operations one after the other, prints the chapter, and writes it unless something was left out or failed.
func (c *whereCommand) Run(ctx context.Context) (err error) {
	if err := postgres.FindPerf(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	chapter := &report.Where{
		Date: time.Now(), Machine: machine.Describe(), Mix: scenarios.DescribeMix(),
		Plan: where.Plan{Connections: c.Connections, WarmUp: c.WarmUp, Count: c.Count, Length: c.Length, Plans: c.Plans},
	}
	if chapter.Commit, err = versionOf(ctx, c.Server); err != nil {
		return err
	}
	w, err := world.NewObserved(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	failed := c.measure(ctx, w, chapter)
	chapter.Took = time.Since(chapter.Date).Round(time.Second)
	if err := chapter.Chapter(os.Stdout); err != nil || failed != nil || len(c.Only) > 0 {
		return errors.Join(failed, err)
	}
	return c.write(chapter)
}

// measure seeds the database, lets a server run whatever a new database needs, and measures.
func (c *whereCommand) measure(ctx context.Context, w *world.World, chapter *report.Where) error {
	if err := postgres.Prepare(ctx, w.DB); err != nil {
		return err
	}
	if err := w.DB.QueryRowContext(ctx, "SHOW server_version").Scan(&chapter.Postgres); err != nil {
		return err
	}
	logProgressf(chapter.Date, "seeding %d agents", c.Agents)
	if err := w.Grow(ctx, c.Agents, 0); err != nil {
		return err
	}
	chapter.Agents, chapter.Posts = w.Size()
	first, err := w.Serve(ctx, c.Server)
	if err != nil {
		return err
	}
	first.Stop()
	var failures []error
	for _, workload := range where.All {
		if len(c.Only) > 0 && !slices.Contains(c.Only, workload.Name) {
			continue
		}
		logProgressf(chapter.Date, "%s", workload.Name)
		r, err := where.Measure(ctx, w, c.Server, workload, chapter.Plan)
		if err != nil && ctx.Err() == nil {
			logProgressf(chapter.Date, "failed: %v", err)
			failures = append(failures, fmt.Errorf("%s: %w", workload.Name, err))
			continue
		}
		if err != nil {
			return err
		}
		chapter.Results = append(chapter.Results, r)
	}
	return errors.Join(failures...)
}

// write puts the chapter on its page.
func (c *whereCommand) write(chapter *report.Where) error {
	name := filepath.Join(c.Out, wherePage)
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := chapter.On(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(text), 0o644) //nolint:gosec // everyone may read it
}
