package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/coreos/go-systemd/v22/daemon"

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
	ctx, fail := context.WithCancelCause(contextUntilSignal(log))
	defer fail(nil)
	p := newProcess(&c.settings, log, fail)
	err := p.start(ctx)
	if err == nil {
		log.Info("serving", "url", p.origin(), "address", p.public.Address(), "operator_address", p.operator.Address(),
			"operator_token", c.tokenSource(c.DataDir), "roles", c.Roles, "version", versionText())
		notifySystemd(log, daemon.SdNotifyReady+"\nSTATUS=Serving "+p.origin())
		go p.feedWatchdog(ctx)
		if c.Welcome || isTerminal(os.Stderr) {
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
		p.announceShutdown()
		return nil
	case err := <-p.public.Failed():
		return err
	case err := <-p.operator.Failed():
		return err
	}
}

// duplicateSignal is how soon after the first a second signal is ignored: make and timeout pass a signal on to a child whose
// terminal or process group has already had it.
const duplicateSignal = 500 * time.Millisecond

// contextUntilSignal returns a context that ends with the first SIGTERM or SIGINT; the second signal ends the process.
func contextUntilSignal(log *slog.Logger) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		received := <-signals
		notifySystemd(log, daemon.SdNotifyStopping+"\nSTATUS=Shutting down")
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

// gcPercent is how much the heap may grow between collections, in percent of the memory in use, unless GOGC is set. Some 7 MB
// are in use; collecting as often as Go does by default is a fifth of the work of a request.
const gcPercent = 300

// configureGC sets up the garbage collector of a serving process.
func configureGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
