package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"stoa/cmd/stoa/cluster"
)

// testClusterCommand runs another command beside a throw-away PostgreSQL cluster, whose superuser's URL it finds in
// STOA_TEST_DATABASE_URL. Its exit code is that command's.
type testClusterCommand struct {
	Command []string `arg:"" passthrough:"" help:"Command to run, after --."`
}

// patience is what the command has to end by itself after a signal.
const patience = 30 * time.Second

// Run makes the cluster in the temporary folder and leaves nothing of it.
func (c *testClusterCommand) Run() (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx := untilSignal(log)
	folder, err := os.MkdirTemp("", "stoa-test-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	private, err := cluster.Start(ctx, cluster.Config{DataDir: folder, Logger: log, Volatile: true, TestRole: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, private.Stop(context.Background())) }()
	if c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	command := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = patience
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "STOA_TEST_DATABASE_URL="+private.URL())
	return command.Run()
}

// exitCode is the one that a command passed on, if err is about that.
func exitCode(err error) (int, bool) {
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return 0, false
	}
	return max(ended.ExitCode(), exitFailure), true
}
