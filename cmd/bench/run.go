package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/report"
	"stoa/cmd/bench/world"
)

// run is one run in progress.
type run struct {
	*runCommand
	world *world.World
	data  report.Data
	begun time.Time
}

// Run measures and reports. It leaves nothing behind but the report, also when ctx is done.
func (c *runCommand) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	r := &run{runCommand: c, begun: time.Now()}
	r.data.Date, r.data.Machine = r.begun, machine.Describe()
	r.sayf("a private PostgreSQL cluster")
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
		if err := r.grow(ctx, agents, last); err != nil {
			return err
		}
		if i == 0 && (c.wants(memoryPart) || c.wants(channelPart) || c.wants(silentPart)) {
			if err := r.fresh(ctx); err != nil {
				return err
			}
		}
		if err := r.measure(ctx, last); err != nil {
			return err
		}
	}
	r.data.Took = time.Since(r.begun).Round(time.Second)
	if err := r.report(); err != nil || len(r.data.Failures) == 0 {
		return err
	}
	return fmt.Errorf("%d measurements failed", len(r.data.Failures))
}

// grow seeds the database up to a size.
func (r *run) grow(ctx context.Context, agents int, last bool) error {
	posts := 0
	if last {
		posts = r.Posts
		for _, p := range r.contested() {
			posts = max(posts, p.Posts)
		}
	}
	r.sayf("seeding up to %d agents", agents)
	before := time.Now()
	err := r.world.Grow(ctx, agents, posts)
	r.sayf("seeded in %s", time.Since(before).Round(time.Second))
	return err
}

// say tells whoever waits what is being done.
func (r *run) sayf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(r.begun).Round(time.Second), fmt.Sprintf(format, args...))
}
