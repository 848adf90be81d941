package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/graph/platform/db"
	"stoa/graph/platform/httpserver"
)

// The shutdown, which fits into 20 s (§11). What has nothing to do takes none of its time.
const (
	// lameDuck is how long a load balancer has to notice that this process is not ready any more.
	lameDuck = 2 * time.Second
	// socketsLeave is what the event sockets may take; closing them is spread over one second of it.
	socketsLeave = 2 * time.Second
	// unhurried is what requests in hand may take from then on. What still waits then, for an inspection or a body, is answered; what
	// is not answered requestsFinish after its beginning is cut off.
	unhurried      = 3500 * time.Millisecond
	requestsFinish = 5500 * time.Millisecond
	// jobsFinish is what jobs may take once there are no requests any more: until then they are worked, since uploads wait for them.
	jobsFinish = 4 * time.Second
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
	if err := within(ctx, requestsFinish, p.finishRequests); err != nil {
		p.log.Warn("requests were cut off", "error", err)
	}
	if p.jobs != nil {
		if err := within(ctx, jobsFinish, p.jobs.Stop); err != nil {
			p.log.Warn("jobs were cut off", "error", err)
		}
	}
	failed = append(failed, p.inspections.close())
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

// finishRequests waits for requests in hand and cuts off what outlasts ctx.
func (p *process) finishRequests(ctx context.Context) error {
	hurry := time.AfterFunc(unhurried, func() {
		close(p.hurry)
		for _, l := range p.listeners() {
			l.Hurry()
		}
	})
	defer hurry.Stop()
	var all errgroup.Group
	for _, l := range p.listeners() {
		all.Go(func() error { return l.Shutdown(ctx) })
	}
	return all.Wait()
}

// listeners are those that are open.
func (p *process) listeners() []*httpserver.Server {
	return slices.DeleteFunc([]*httpserver.Server{p.public, p.operator}, func(l *httpserver.Server) bool { return l == nil })
}

// within gives work a time limit.
func within(ctx context.Context, limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return work(ctx)
}
