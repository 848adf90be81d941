package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

// The shutdown fits into 20 s (§11). Each bound is a maximum: a part that has nothing to do ends at once.
const (
	// drainDelay is how long requests are still accepted, for load balancers to notice that this process is not ready any more.
	drainDelay = 2 * time.Second
)

var (
	// socketsTimeout bounds the closing of event sockets, which is spread over one second.
	socketsTimeout = slack.Of(2 * time.Second)
	// Running requests have requestsTimeout. Those that still wait for an inspection or a body after waitsTimeout are answered
	// then.
	waitsTimeout    = slack.Of(3500 * time.Millisecond)
	requestsTimeout = slack.Of(5500 * time.Millisecond)
	// jobsTimeout bounds the jobs, which go on until there are no requests any more, since uploads wait for them.
	jobsTimeout = slack.Of(4 * time.Second)
	// tracesTimeout bounds the sending of the last spans.
	tracesTimeout = slack.Of(time.Second)
	// clusterTimeout bounds the stop of the private cluster.
	clusterTimeout = slack.Of(5 * time.Second)
)

// announceShutdown turns /readyz to 503 and waits for load balancers to notice.
func (p *process) announceShutdown() {
	p.draining.Store(true)
	time.Sleep(drainDelay)
}

// stop closes the parts that start has opened, after running requests and jobs have ended.
func (p *process) stop(ctx context.Context) error {
	p.draining.Store(true)
	p.filling.Wait() // it ends with the context of start
	if p.sockets != nil {
		drain, cancel := context.WithTimeout(ctx, socketsTimeout)
		p.sockets.Drain(drain)
		cancel()
	}
	if err := withTimeout(ctx, requestsTimeout, p.finishRequests); err != nil {
		p.log.Warn("requests were cut off", "error", err)
	}
	if p.jobs != nil {
		if err := withTimeout(ctx, jobsTimeout, p.jobs.Stop); err != nil {
			p.log.Warn("jobs were cut off", "error", err)
		}
	}
	var errs []error
	for _, end := range slices.Backward(p.closers) {
		errs = append(errs, end(ctx))
	}
	p.log.Info("stopped")
	return errors.Join(errs...)
}

// finishRequests waits for running requests and cuts off those that outlast ctx.
func (p *process) finishRequests(ctx context.Context) error {
	soon := time.AfterFunc(waitsTimeout, func() {
		close(p.shutdownSoon)
		for _, l := range p.openListeners() {
			l.ShutdownSoon()
		}
	})
	defer soon.Stop()
	var all errgroup.Group
	for _, l := range p.openListeners() {
		all.Go(func() error { return l.Shutdown(ctx) })
	}
	return all.Wait()
}

func (p *process) openListeners() []*httpserver.Server {
	return slices.DeleteFunc([]*httpserver.Server{p.public, p.operator}, func(l *httpserver.Server) bool { return l == nil })
}

func withTimeout(ctx context.Context, timeout time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return work(ctx)
}
