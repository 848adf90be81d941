package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is how soon after the first a signal is taken for the same one: make and timeout pass it on to a child whose terminal
// or process group has already had it.
const echo = 500 * time.Millisecond

// untilSignal returns a context that ends with the first SIGTERM or SIGINT; the second ends the process.
func untilSignal(log *slog.Logger) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		log.Info("shutting down", "signal", (<-signals).String())
		cancel()
		first := time.Now()
		second := <-signals
		for time.Since(first) < echo {
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
