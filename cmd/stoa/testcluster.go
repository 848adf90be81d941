package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/platform/slack"
)

// testClusterCommand runs another command beside a throw-away PostgreSQL cluster. The command finds the URL of a superuser in
// STOA_TEST_DATABASE_URL, and in STOA_TEST_SLACK how much slower than usual the machine is, unless that is set already. The exit code is
// the command's.
type testClusterCommand struct {
	Command []string `arg:"" passthrough:"" help:"Command to run, after --."`
}

// testCommandTimeout is how long after a signal the command is killed.
const testCommandTimeout = 30 * time.Second

const (
	sharedMemory = "/dev/shm"
	// minSharedMemory is how many bytes must be free there for a cluster: several times the need of tests that run at once.
	minSharedMemory = 4 << 30
)

// testClusterParent returns the parent of the cluster's folder: in memory if enough is free, since cloning a database writes
// hundreds of files, which takes three times as long on a disk; otherwise the folder of temporary files.
func testClusterParent() string {
	if free, _ := diskSpace(sharedMemory); free >= minSharedMemory {
		return sharedMemory
	}
	return ""
}

// Run makes the cluster in a temporary folder and deletes it afterwards.
func (c *testClusterCommand) Run() (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx := contextUntilSignal(log)
	folder, err := os.MkdirTemp(testClusterParent(), "stoa-test-")
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
	command.WaitDelay = testCommandTimeout
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "STOA_TEST_DATABASE_URL="+private.URL())
	if os.Getenv(slack.Variable) == "" {
		command.Env = append(command.Env, fmt.Sprintf("%s=%.1f", slack.Variable, slack.Measure(slack.LoopTime)))
	}
	err = command.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code := max(ended.ExitCode(), exitFailure)
		return exitError{fmt.Errorf("the command exited with %d", code), code}
	}
	return err
}
