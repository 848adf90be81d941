package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"stoa/cmd/stoa/terminal"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
	"stoa/jobs/inspection"
)

// serveCommand runs the server until SIGTERM or SIGINT. A second signal ends it at once.
type serveCommand struct {
	settings
}

// Run returns nil after a complete shutdown (§11).
func (c *serveCommand) Run(parsed *kong.Context) error {
	log := c.logger(os.Stderr)
	for _, name := range unknownSettings(parsed.Model) {
		log.Warn("unknown setting: no variable of this version has this name", "name", name)
	}
	if err := inspection.CloseMemory(); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, fail := context.WithCancelCause(contextUntilSignal(log))
	defer fail(nil)
	p := newProcess(&c.settings, log, fail)
	err := p.start(ctx)
	if err == nil {
		log.Info("serving", "url", p.origin(), "address", p.public.Address(), "operator_address", p.operator.Address(),
			"operator_token", c.tokenSource(c.DataDir), "roles", c.Roles, "version", versionText())
		notifySystemd(log, "READY=1\nSTATUS=Serving "+p.origin())
		go p.feedWatchdog(ctx)
		if c.Welcome || terminal.Is(os.Stderr) {
			p.welcome(ctx, os.Stderr)
		}
		err = p.wait(ctx)
	}
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		err = nil // a start that a signal cut short has not failed
	} else if cause != nil {
		err = cause
	}
	return errors.Join(err, p.stop(context.Background()))
}

// wait returns nil when ctx has ended and the shutdown is announced, or the error of a listener that failed.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		p.draining.Store(true) // which turns /readyz to 503
		time.Sleep(drainDelay)
		return nil
	case err := <-p.public.Failed():
		return err
	case err := <-p.operator.Failed():
		return err
	}
}

// duplicateSignal is the time after the first signal in which a second one is ignored: make and timeout pass a signal on to a
// child that has already received it from its terminal or process group.
const duplicateSignal = 500 * time.Millisecond

// contextUntilSignal returns a context that ends with the first SIGTERM or SIGINT; the second signal ends the process.
func contextUntilSignal(log *slog.Logger) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		received := <-signals
		notifySystemd(log, "STOPPING=1\nSTATUS=Shutting down")
		log.Info("shutting down", "signal", received.String())
		cancel()
		first := time.Now()
		second := <-signals
		for time.Since(first) < duplicateSignal {
			second = <-signals
		}
		log.Warn("exiting at once", "signal", second.String())
		code := exitFailure
		if number, ok := second.(syscall.Signal); ok {
			code = 128 + int(number)
		}
		os.Exit(code)
	}()
	return ctx
}

// gcPercent is the growth of the heap between collections, in percent of the memory in use, unless GOGC is set. About 7 MB are in
// use; with Go's default, collections would be a fifth of the work of a request.
const gcPercent = 300

// The shutdown fits into 20 s (§11). Each bound is a maximum: an idle part ends at once.
var (
	// drainDelay is how long requests are still accepted, for load balancers to notice that this process is not ready any more.
	drainDelay = slack.Of(2 * time.Second)
	// socketsTimeout bounds the closing of event sockets, which is spread over one second.
	socketsTimeout = slack.Of(2 * time.Second)
	// Running requests have requestsTimeout. Requests that wait for an inspection or a body are answered after waitsTimeout.
	waitsTimeout    = slack.Of(3500 * time.Millisecond)
	requestsTimeout = slack.Of(5500 * time.Millisecond)
	// jobsTimeout bounds the jobs, which run until all requests have ended, since uploads wait for them.
	jobsTimeout = slack.Of(4 * time.Second)
	// tracesTimeout bounds the sending of the last spans.
	tracesTimeout = slack.Of(time.Second)
	// clusterTimeout bounds the stop of the private cluster.
	clusterTimeout = slack.Of(5 * time.Second)
)

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
	open := slices.DeleteFunc([]*httpserver.Server{p.public, p.operator}, func(l *httpserver.Server) bool { return l == nil })
	soon := time.AfterFunc(waitsTimeout, func() {
		close(p.shutdownSoon)
		for _, l := range open {
			l.ShutdownSoon()
		}
	})
	defer soon.Stop()
	var all errgroup.Group
	for _, l := range open {
		all.Go(func() error { return l.Shutdown(ctx) })
	}
	return all.Wait()
}

func withTimeout(ctx context.Context, timeout time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return work(ctx)
}
