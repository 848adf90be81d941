package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/world"
)

// run is a run in progress.
type run struct {
	*runCommand
	world *world.World
	data  report.Data
	start time.Time
}

// Run measures and reports. It removes everything but the report, also when ctx is done.
func (c *runCommand) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	r := &run{runCommand: c, start: time.Now()}
	r.data.Date, r.data.Machine = r.start, machine.Describe()
	r.logf("creating a PostgreSQL cluster")
	if r.world, err = world.New(ctx, c.Dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.world.Close()) }()
	if err := r.describe(ctx); err != nil {
		return err
	}
	sizes := c.sizes()
	for i, agents := range sizes {
		last := i == len(sizes)-1
		if err := r.seed(ctx, agents, last); err != nil {
			return err
		}
		if i == 0 {
			if err := r.measureIdleServer(ctx); err != nil {
				return err
			}
			if err := r.measurePolls(ctx); err != nil {
				return err
			}
		}
		if err := r.measureScenarios(ctx, last); err != nil {
			return err
		}
	}
	if err := r.measureLedger(ctx); err != nil {
		return err
	}
	if err := r.measureSearches(ctx); err != nil {
		return err
	}
	r.data.Took = time.Since(r.start).Round(time.Second)
	if err := r.report(); err != nil || len(r.data.Failures) == 0 {
		return err
	}
	return fmt.Errorf("%d measurements failed", len(r.data.Failures))
}

// describe reads the versions of the measured programs.
func (r *run) describe(ctx context.Context) (err error) {
	if r.data.Commit, err = versionOf(ctx, r.Server); err != nil {
		return err
	}
	r.data.Go = runtime.Version()
	return r.world.DB.QueryRowContext(ctx, "SHOW server_version").Scan(&r.data.Postgres)
}

// versionOf returns what a server says of its version.
func versionOf(ctx context.Context, server string) (string, error) {
	program, err := filepath.Abs(server)
	if err != nil {
		return "", err
	}
	version, err := exec.CommandContext(ctx, program, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", server, err)
	}
	return strings.TrimSpace(string(version)), nil
}

// seed grows the database to a size.
func (r *run) seed(ctx context.Context, agents int, last bool) error {
	posts := 0
	if last {
		posts = r.Posts
		for _, s := range r.compared() {
			posts = max(posts, s.Posts)
		}
	}
	r.logf("seeding %d agents", agents)
	return r.world.Grow(ctx, agents, posts)
}

// logf reports progress.
func (r *run) logf(format string, args ...any) { logProgressf(r.start, format, args...) }

// logProgressf reports what begins, with the time since the start of the run.
func logProgressf(start time.Time, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(start).Round(time.Second), fmt.Sprintf(format, args...))
}

// attempt keeps the error of a measurement for the report, so that the others go on. It returns an error when the whole run is
// over.
func (r *run) attempt(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	r.logf("failed: %v", err)
	r.data.Failures = append(r.data.Failures, err.Error())
	return nil
}

// report prints the page, and writes all files unless something was left out.
func (r *run) report() error {
	if err := r.data.Page(os.Stdout); err != nil || len(r.Only) > 0 || r.Quick {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.Out, "bench"), 0o750); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"benchmarks.md", r.data.Page},
		{"bench/scenarios.txt", r.data.Scenarios},
		{"bench/growth.txt", r.data.GrowthRounds},
		{"bench/parts.txt", r.data.Parts},
	} {
		if err := writeFile(filepath.Join(r.Out, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
