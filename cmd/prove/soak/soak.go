// Package soak judges whether servers under a steady load hold on to anything. It samples what they, their database and their file
// store hold, judges what must be flat by its robust growth in an hour, and compares what must grow with what was written.
package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/bench/load"
	"stoa/cmd/prove/curve"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/testbed"
)

// Plan says what is run.
type Plan struct {
	Processes int
	// Rate is the number of requests a second; 0: a third of the knee, which is measured first.
	Rate   float64
	Length time.Duration
}

const (
	// connections send the load. At a third of the knee few of them are busy at a time.
	connections = 64
	// uploadInterval is the time between two uploads.
	uploadInterval = 2 * time.Second
)

// short is the curve that finds the knee, and share what of it is the load.
var short = curve.Plan{Connections: []int{4, 16, 64}, WarmUp: time.Second, Length: 4 * time.Second}

const share = 1.0 / 3

// Measure soaks the servers of a bed and returns the findings. It calls `told` with each progress message.
func Measure(ctx context.Context, bed *testbed.Bed, m *mix.Mix, plan Plan, told func(format string, args ...any)) (*Result, error) {
	r := &Result{Plan: plan, Failures: new(mix.Failures), Heard: new(mix.Heard)}
	for _, s := range bed.Servers {
		r.servers = append(r.servers, s.Name)
	}
	before, err := r.written(ctx, bed, m)
	if err != nil {
		return nil, err
	}
	beside, ctx := errgroup.WithContext(ctx)
	besideCtx, stop := context.WithCancel(ctx)
	defer stop()
	beside.Go(func() error {
		m.Listen(besideCtx, r.Heard, r.Failures)
		return nil
	})
	if r.Rate == 0 {
		if err := r.findRate(ctx, bed, m, told); err != nil {
			return nil, err
		}
	}
	told("%.0f requests a second for %s", r.Rate, r.Length)
	beside.Go(func() error {
		r.uploads = m.Upload(besideCtx, uploadInterval, r.Failures)
		return nil
	})
	beside.Go(func() error { return r.watch(besideCtx, bed, told) })
	if r.Load, err = r.send(ctx, m); err != nil {
		stop()
		return nil, errors.Join(err, beside.Wait())
	}
	stop()
	if err := beside.Wait(); err != nil {
		return nil, err
	}
	after, err := r.written(context.WithoutCancel(ctx), bed, m)
	if err != nil {
		return nil, err
	}
	r.judge(before, after)
	return r, nil
}

// findRate measures the knee.
func (r *Result) findRate(ctx context.Context, bed *testbed.Bed, m *mix.Mix, told func(string, ...any)) error {
	told("finding the knee")
	plan := short
	plan.Processes = []int{r.Processes}
	points, err := curve.Measure(ctx, bed, m, plan, func(p curve.Point) {
		told("%d connections: %.0f requests/s", p.Connections, p.PerSecond)
	})
	if err != nil {
		return err
	}
	r.Knee = curve.Knee(points).PerSecond
	r.Rate = share * r.Knee
	return nil
}

// send sends the load.
func (r *Result) send(ctx context.Context, m *mix.Mix) (s load.Sample, err error) {
	callers, err := m.Open(ctx, connections)
	if err != nil {
		return s, err
	}
	s, err = callers.Pace(ctx, r.Rate, r.Length, r.Failures)
	return s, errors.Join(err, callers.Close())
}

// watch takes samples until ctx is done.
func (r *Result) watch(ctx context.Context, bed *testbed.Bed, told func(string, ...any)) error {
	begun := time.Now()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		s, err := take(ctx, bed, begun)
		if ctx.Err() != nil {
			return nil // the run is over
		}
		if err != nil {
			return fmt.Errorf("sampling: %w", err)
		}
		r.samples = append(r.samples, s)
		if len(r.samples)%20 == 0 {
			failed, _ := r.Failures.All()
			told("%.0f %s, %.0f %s, %d failures", s.values[eventsWaiting], eventsWaiting, s.values[jobsWaiting], jobsWaiting, failed)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// writes are the rows of each growing table and the files in the store, and the operations of the load that succeeded so far.
type writes struct {
	rows map[string]float64
	done map[string]int
}

func (r *Result) written(ctx context.Context, bed *testbed.Bed, m *mix.Mix) (writes, error) {
	w := writes{rows: make(map[string]float64), done: m.Done()}
	w.done[uploads] = r.uploads
	var err error
	if w.rows[storedFiles], err = countFiles(filepath.Join(bed.Data(), "files")); err != nil {
		return w, err
	}
	for name := range growing {
		if w.rows[name], err = count(ctx, bed.DB, "SELECT count(*) FROM "+name); err != nil {
			return w, err
		}
	}
	return w, nil
}

// judge judges the samples, and what was written between before and after.
func (r *Result) judge(before, after writes) {
	rest := steady(r.samples, r.Length)
	r.Trends = trends(rest, r.servers)
	r.Tables = churned(rest)
	compare := func(name, operation string, each int) {
		r.Growths = append(r.Growths, Growth{
			Name: name, Operation: operation, Operations: after.done[operation] - before.done[operation], Each: each,
			Rows: int(after.rows[name] - before.rows[name]),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(growing)) {
		if g := growing[name]; g.rows > 0 {
			compare(name, g.operation, g.rows)
		}
	}
	compare(storedFiles, uploads, 2) // the file and its preview
}
