// Command bench measures a running server against what PostgreSQL itself can do, and writes docs/benchmarks.md.
//
// It makes a database of its own, seeds it, starts the server (bin/stoa) and a minimal rival as child processes, lets them and
// bare SQL take turns, and removes everything again, also when it is interrupted. See docs/benchmarks.md for what is measured.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"stoa/cmd/bench/world"
)

type commands struct {
	Run     runCommand     `cmd:"" default:"withargs" help:"Measure, and write the results down."`
	Keep    keepCommand    `cmd:"" help:"Make and seed a database, print its URL and a token, and keep it until interrupted."`
	Minimal minimalCommand `cmd:"" hidden:"" name:"minimal" help:"Be the minimal server."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	parsed := kong.Parse(new(commands), kong.Name("bench"), kong.Vars{"minimal": world.MinimalCommand},
		kong.Description("Measure the server against bare SQL and a minimal server on one database."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	err := parsed.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
