package world

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// startTime is how long a process may take until it serves.
	startTime = time.Minute
	// stopTime is how long it may take to end after SIGTERM.
	stopTime = 25 * time.Second
)

// Process is a child that serves HTTP on Address.
type Process struct {
	Address string
	// Operator is where it tells its metrics.
	Operator string
	PID      int

	command *exec.Cmd
	ended   chan struct{}
}

// announcement reads a line of a child's output; ok means that the child serves now.
type announcement func(line []byte, p *Process) (ok bool)

// spawn starts a child and waits until it announces that it serves. Its output goes to log. It is asked to end when the command's
// context is done.
func spawn(ctx context.Context, command *exec.Cmd, log io.Writer, announced announcement) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// A signal from the terminal goes to this program alone, which ends its children in order; they do not outlive it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	command.Stdout, command.Stderr = in, in
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTime
	if err := errors.Join(command.Start(), in.Close()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	p := &Process{PID: command.Process.Pid, command: command, ended: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(p.ended)
		defer out.Close()
		serving := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintf(log, "%s\n", lines.Bytes())
			if !serving && announced(lines.Bytes(), p) {
				serving = true
				close(ready)
			}
		}
		_ = command.Wait() // how it ended is in its log
	}()
	select {
	case <-ready:
		return p, nil
	case <-p.ended:
		err = errors.New("it ended at once")
	case <-time.After(startTime):
		err = errors.New("it does not serve")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Stop()
	return nil, fmt.Errorf("starting %s: %w", command.Path, err)
}

// Stop ends the process, the hard way if it must, and waits.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	_ = p.command.Process.Signal(syscall.SIGTERM) // one that has ended needs no signal
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}
