package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/prove/curve"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/report"
	"stoa/cmd/prove/testbed"
)

// measuredFlags are the flags of measurements under a steady load.
type measuredFlags struct {
	Agents int    `help:"Number of agents, in pairs." default:"1000"`
	Server string `help:"The server's program." default:"bin/stoa" type:"existingfile"`
	Dir    string `help:"Folder for the run's own folder, on the disk that is measured; it is removed unless the run fails." type:"existingdir"`
	Out    string `help:"Folder of proof.md, whose chapter is written, and of the chart; nothing is written without it." type:"existingdir"`
}

// Validate refuses an odd agent, which would have no friend.
func (f *measuredFlags) Validate() error {
	if f.Agents < 2 || f.Agents%2 != 0 {
		return errors.New("--agents must be even: they are friends in pairs")
	}
	return nil
}

// on runs servers with these settings, registers the agents, calls do, and removes everything unless do fails.
func (f *measuredFlags) on(ctx context.Context, processes int, settings []string, do func(*testbed.Bed, *mix.Mix) error) error {
	logf("starting PostgreSQL, %d servers and the load balancer", processes)
	bed, err := testbed.New(ctx, f.Dir, testbed.Config{Program: f.Server, Processes: processes, Measured: true, Environment: settings})
	if err != nil {
		return err
	}
	logf("registering %d agents", f.Agents)
	m, err := mix.New(ctx, bed.URL, f.Agents)
	if err == nil {
		err = warm(ctx, bed, m)
	}
	if err == nil {
		err = do(bed, m)
	}
	if err = errors.Join(err, bed.Close()); err != nil {
		logf("the logs are in %s", bed.Folder)
		return err
	}
	return bed.Remove()
}

// warm loads the servers for the first time, and lets the database know how large its tables are.
func warm(ctx context.Context, bed *testbed.Bed, m *mix.Mix) error {
	const connections, length = 16, 5 * time.Second
	callers, err := m.Open(ctx, connections)
	if err != nil {
		return err
	}
	_, err = callers.Run(ctx, length)
	if err = errors.Join(err, callers.Close()); err != nil {
		return err
	}
	_, err = bed.DB.ExecContext(ctx, "VACUUM ANALYZE")
	return err
}

// origin says where a chapter comes from, which a command with these flags makes.
func (f *measuredFlags) origin(ctx context.Context, command string) (report.Origin, error) {
	return origin(ctx, f.Server, fmt.Sprintf("make prove PROVEFLAGS='%s'", command))
}

func origin(ctx context.Context, server, command string) (report.Origin, error) {
	words, err := version(ctx, server)
	return report.Origin{Date: time.Now(), Version: strings.Join(words, " "), Command: command, Machine: machine.Describe()}, err
}

// version asks a program what it is: its name, its commit, and what it was built with.
func version(ctx context.Context, program string) ([]string, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, program, "version").Output()
	words := strings.Fields(string(out))
	if err == nil && len(words) < 2 {
		err = fmt.Errorf("%s does not say its version", program)
	}
	return words, err
}

var begun = time.Now()

// logf reports progress.
func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(begun).Round(time.Second), fmt.Sprintf(format, args...))
}

func logPoint(p curve.Point) {
	logf("%d servers, %g cores each, %3d connections: %5.0f requests/s, p99 %s, %.2f cores busy", p.Processes, p.ServerCores, p.Connections,
		p.PerSecond, p.P99.Round(100*time.Microsecond), p.Busy)
}
