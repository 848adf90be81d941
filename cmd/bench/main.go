// Command bench compares a server with another one or with plain SQL, on its own PostgreSQL, in turns in one run. It writes its
// results in the format of Go benchmarks, for benchstat. It removes all other files, even when it is interrupted. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"stoa/cmd/bench/load"
)

// command holds the flags.
type command struct {
	Server      string        `default:"bin/stoa" type:"existingfile" help:"The program to measure."`
	Against     string        `type:"existingfile" xor:"base" help:"A program of another commit to compare it with, instead of plain SQL."`
	Nakama      string        `type:"existingfile" xor:"base" help:"A program of Nakama to compare it with: register and me."`
	While       string        `type:"existingfile" xor:"base" help:"Compare nothing; run this script while each scenario loads the server."`
	Only        []string      `enum:"${scenarios}" help:"Measure these scenarios only: ${enum}."`
	Connections int           `default:"16" help:"Number of connections."`
	Rounds      int           `default:"6" help:"How often each side is measured in each scenario."`
	Length      time.Duration `default:"2s" help:"Length of a measurement."`
	Agents      int           `default:"1000" help:"Number of agents, in pairs of friends."`
	Full        bool          `help:"Fill the database first: 500,000 more agents, 50,000 posts of 4 KB and a million messages."`
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
		kong.Vars{"scenarios": strings.Join(names, ", ")},
		kong.Description("Compare a server with plain SQL, with one of another commit, or with a peer, in turns, and write the results for benchstat."))
	err := parsed.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Validate refuses impossible numbers.
func (c *command) Validate() error {
	if min(c.Connections, c.Rounds) < 1 || c.Length <= 0 {
		return errors.New("--connections, --rounds and --length must be positive")
	}
	if c.Agents < 2*c.Connections || c.Agents%2 != 0 {
		return errors.New("--agents: an even number, and two for each connection at least")
	}
	return nil
}

// Run measures and writes the results, or runs a script during each scenario.
func (c *command) Run(ctx context.Context) (err error) {
	settings := settings
	if c.While != "" {
		settings = append(settings, observation)
	}
	d, err := newDatabase(ctx, c.Dir, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	d.full = c.Full
	s, err := d.start(ctx, "server", c.Server, c.Agents)
	if err != nil {
		return err
	}
	defer s.stop()
	if c.While != "" {
		return c.each(func(scenario load.Scenario) error { return c.observe(ctx, d, s, scenario) })
	}
	base, stop, err := c.base(ctx, d, s)
	if err != nil {
		return err
	}
	defer stop()
	if err := os.MkdirAll(filepath.Dir(c.Out), 0o750); err != nil {
		return err
	}
	out, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return c.each(func(scenario load.Scenario) error {
		return c.compare(ctx, d, scenario, []variant{base, s.variant("server")}, out)
	})
}

// base starts the other side of the comparison.
func (c *command) base(ctx context.Context, d *database, s *server) (v variant, stop func(), err error) {
	switch {
	case c.Against != "":
		other, err := d.start(ctx, "against", c.Against, c.Agents)
		if err != nil {
			return v, nil, err
		}
		return other.variant("against"), other.stop, nil
	case c.Nakama != "":
		peer, err := d.startNakama(ctx, c.Nakama, c.Connections)
		if err != nil {
			return v, nil, err
		}
		return peer.variant(), peer.stop, nil
	}
	v, err = d.plain(ctx, s)
	return v, func() {}, err
}

// each calls do for the chosen scenarios.
func (c *command) each(do func(load.Scenario) error) error {
	for _, s := range load.Scenarios {
		if len(c.Only) > 0 && !slices.Contains(c.Only, s.Name) {
			continue
		}
		fmt.Fprintln(os.Stderr, s.Name)
		if err := do(s); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// observe runs the script while a scenario loads the server, and ends the load with it.
func (c *command) observe(ctx context.Context, d *database, s *server, scenario load.Scenario) error {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	loaded := make(chan error, 1)
	go func() {
		_, _, err := load.Run(loading, scenario.Do, s.api, s.callers(c.Connections), time.Hour)
		loaded <- err
	}()
	script := exec.CommandContext(ctx, c.While, scenario.Name)
	script.Env = append(os.Environ(), "DATABASE_URL="+s.url, "DATABASE_LOG="+filepath.Join(d.folder, "postgres.log"),
		"OPERATOR=http://"+s.operator, "OPERATOR_TOKEN="+operatorToken)
	script.Stdout, script.Stderr = os.Stdout, os.Stderr
	err := script.Run()
	stop()
	if failed := <-loaded; !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return err
}
