// Package child runs programs as children of this one: the servers and databases of benchmarks and proofs. The children do not
// outlive this process, and signals of the terminal do not reach them, so that this process can stop them in order.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout is the time until a process is ready.
	startTimeout = time.Minute
	// stopTimeout is the time from SIGTERM to the end.
	stopTimeout = 25 * time.Second
)

// Process is a running child. Its methods may be called from any goroutine.
type Process struct {
	PID int

	command *exec.Cmd
	ended   chan struct{}
}

// Start starts a command and waits until ready returns true for a line of its output. The output goes to log. The process gets a
// SIGTERM when the command's context is done. The command's SysProcAttr is completed, not replaced.
func Start(ctx context.Context, command *exec.Cmd, log io.Writer, ready func(line []byte) bool) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if command.SysProcAttr == nil {
		command.SysProcAttr = new(syscall.SysProcAttr)
	}
	command.SysProcAttr.Setpgid, command.SysProcAttr.Pdeathsig = true, syscall.SIGTERM
	command.Stdout, command.Stderr = in, in
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout
	p := &Process{command: command, ended: make(chan struct{})}
	started, isReady := make(chan error), make(chan struct{})
	var last string // line of output
	go func() {
		defer close(p.ended)
		defer out.Close()
		// The kernel sends Pdeathsig when the thread that started the process ends, so this thread lives as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := errors.Join(command.Start(), in.Close())
		if started <- err; err != nil {
			return
		}
		seen, lines := false, bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20) // a shorter buffer would end the reading at a long line, and the process would wait for ever
		for lines.Scan() {
			last = lines.Text()
			fmt.Fprintln(log, last)
			if !seen && ready(lines.Bytes()) {
				seen = true
				close(isReady)
			}
		}
		_ = command.Wait() // its log has the reason
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.PID = command.Process.Pid
	select {
	case <-isReady:
		return p, nil
	case <-p.ended:
		err = fmt.Errorf("it exited: %s", last)
	case <-time.After(startTimeout):
		err = errors.New("it does not serve in time")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Stop()
	return nil, fmt.Errorf("starting %s: %w", command.Path, err)
}

// Stop sends a SIGTERM, kills the process if it has not ended after 25 s, and waits. A nil Process is allowed.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		p.Kill()
	}
}

// Kill ends the process with SIGKILL and waits. A nil Process is allowed.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Signal sends a signal to the process alone. It does nothing if the process has ended or is nil.
func (p *Process) Signal(signal syscall.Signal) {
	if p != nil {
		_ = p.command.Process.Signal(signal)
	}
}

// Ended is closed once the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Serving parses the line that a Stoa with JSON logs writes when it serves, and returns the addresses of its public and its
// operator listener. ok is false for every other line.
func Serving(line []byte) (address, operator string, ok bool) {
	var entry struct {
		Message  string `json:"msg"`
		Address  string `json:"address"`
		Operator string `json:"operator_address"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Message != "serving" {
		return "", "", false
	}
	return entry.Address, entry.Operator, true
}

// ChildrenOf returns the process ids of the children of all threads of a process; none if it has ended.
func ChildrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// FreeAddress returns an unused address of the loopback. Its port is below the ports of outgoing connections, so it stays free
// until the server listens, and while the server restarts.
func FreeAddress() (string, error) {
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 16384+rand.IntN(16384))
		listener, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return address, listener.Close()
	}
}
