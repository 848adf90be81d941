package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/graph/db"
)

// The shutdown, which fits into 20 s (§11).
const (
	// lameDuck is how long a load balancer has to notice that this process is not ready any more.
	lameDuck = 2 * time.Second
	// socketsLeave is what the event sockets may take; closing them is spread over one second of it.
	socketsLeave = 3 * time.Second
	// inHand is what requests and jobs may take from then on.
	inHand = 8 * time.Second
	// tracesLeave is what sending the last spans may take.
	tracesLeave = time.Second
	// clusterStops is left for the private cluster.
	clusterStops = 5 * time.Second
)

// announce says on /readyz that this process is about to go, and gives others the time to hear it.
func (p *process) announce() {
	p.draining.Store(true)
	time.Sleep(lameDuck)
}

// stop takes down whatever is up: sockets, requests in hand, the database.
func (p *process) stop(ctx context.Context) error {
	p.draining.Store(true)
	var failed []error
	if p.sockets != nil {
		_ = within(ctx, socketsLeave, p.sockets.leave)
	}
	if err := within(ctx, inHand, p.finishWork); err != nil {
		p.log.Warn("work was cut off", "error", err)
	}
	if p.dashboard != nil {
		p.dashboard.Stop()
	}
	if p.sockets != nil {
		failed = append(failed, p.sockets.finish())
	}
	for _, pool := range []*db.DB{p.reads, p.db} {
		if pool != nil {
			failed = append(failed, pool.Close())
		}
	}
	if p.files != nil {
		failed = append(failed, p.files.Close())
	}
	if p.traces != nil {
		if err := within(ctx, tracesLeave, p.traces.finish); err != nil {
			p.log.Warn("the last spans are lost", "error", err)
		}
	}
	if p.private != nil {
		failed = append(failed, within(ctx, clusterStops, p.private.Stop))
	}
	p.log.Info("stopped")
	return errors.Join(failed...)
}

// finishWork waits for requests and jobs in hand and cuts off what outlasts ctx.
func (p *process) finishWork(ctx context.Context) error {
	var all errgroup.Group
	for _, l := range []*listener{p.public, p.operator} {
		if l != nil {
			all.Go(func() error { return l.finish(ctx) })
		}
	}
	if p.jobs != nil {
		all.Go(func() error { return p.jobs.Stop(ctx) })
	}
	return all.Wait()
}

// within gives work a time limit.
func within(ctx context.Context, limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return work(ctx)
}
