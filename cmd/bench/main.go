// Command bench compares a server with another one or with plain SQL, on a database of its own, in turns in one run. It writes its
// results in the format of Go benchmarks, for benchstat. It removes everything else again, also when it is interrupted. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"stoa/cmd/bench/load"
)

// command is what is measured.
type command struct {
	Server      string        `default:"bin/stoa" type:"existingfile" help:"The program to measure."`
	Against     string        `type:"existingfile" help:"A program of another commit to compare it with."`
	Only        []string      `help:"Measure these scenarios only: ${scenarios}."`
	Connections int           `default:"16" help:"Number of connections."`
	Rounds      int           `default:"10" help:"How often each program is measured in each scenario."`
	Length      time.Duration `default:"1s" help:"Length of a measurement."`
	Agents      int           `default:"1000" help:"Number of agents, in pairs of friends."`
	Out         string        `default:"bin/bench.txt" help:"File of the results."`
	Dir         string        `type:"existingdir" help:"Folder for the database; the system's temporary folder if empty."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	names := make([]string, len(load.Scenarios))
	for i, s := range load.Scenarios {
		names[i] = s.Name
	}
	parsed := kong.Parse(new(command), kong.Name("bench"), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Vars{"scenarios": fmt.Sprint(names)},
		kong.Description("Compare a server with one of another commit, in turns, and write the results for benchstat."))
	err := parsed.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Validate refuses unknown scenarios and impossible numbers.
func (c *command) Validate() error {
	for _, name := range c.Only {
		if _, ok := load.Named(name); !ok {
			return fmt.Errorf("--only: there is no scenario %s", name)
		}
	}
	if min(c.Connections, c.Rounds) < 1 || c.Length <= 0 {
		return errors.New("--connections, --rounds and --length must be positive")
	}
	if c.Agents < 2*c.Connections || c.Agents%2 != 0 {
		return errors.New("--agents: an even number, and two for each connection at least")
	}
	return nil
}

// Run measures, and writes the results.
func (c *command) Run(ctx context.Context) (err error) {
	d, err := newDatabase(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	var all []*variant
	defer func() {
		for _, v := range all {
			v.stop()
		}
	}()
	for _, program := range []struct{ name, path string }{{"against", c.Against}, {"server", c.Server}} {
		if program.path == "" {
			continue
		}
		v, err := d.start(ctx, program.name, program.path, c.Agents)
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	if err := os.MkdirAll(filepath.Dir(c.Out), 0o750); err != nil {
		return err
	}
	out, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for _, s := range load.Scenarios {
		if len(c.Only) > 0 && !slices.Contains(c.Only, s.Name) {
			continue
		}
		fmt.Fprintln(os.Stderr, s.Name)
		if err := c.measure(ctx, d, s, all, out); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}
