package world

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout is the time until a process serves.
	startTimeout = time.Minute
	// stopTimeout is the time from SIGTERM to the end.
	stopTimeout = 25 * time.Second
	// gcTimeout is the time of a garbage collection.
	gcTimeout = 10 * time.Second
)

// Process is a child process that serves HTTP on Address.
type Process struct {
	Address string
	// Operator is the address of its metrics and profiles.
	Operator string
	PID      int

	command *exec.Cmd
	ended   chan struct{}
}

// spawn starts a process and waits until serving reports that a line of its output says that it serves; serving sets its
// addresses. The output goes to log. The process gets a SIGTERM when the command's context is done.
func spawn(ctx context.Context, command *exec.Cmd, log io.Writer, serving func(line []byte, p *Process) bool) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// A signal of the terminal reaches this program only, which stops its children in order. They do not outlive it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	command.Stdout, command.Stderr = in, in
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout
	if err := errors.Join(command.Start(), in.Close()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	p := &Process{PID: command.Process.Pid, command: command, ended: make(chan struct{})}
	ready := make(chan struct{})
	var last string // line of output
	go func() {
		defer close(p.ended)
		defer out.Close()
		isReady := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			last = lines.Text()
			fmt.Fprintln(log, last)
			if !isReady && serving(lines.Bytes(), p) {
				isReady = true
				close(ready)
			}
		}
		_ = command.Wait() // its log has the reason
	}()
	select {
	case <-ready:
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

// Stop sends a SIGTERM, kills the process where that does not end it, and waits. A nil Process is allowed.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	_ = p.command.Process.Signal(syscall.SIGTERM) // fails when it has ended
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// get writes what a path of the operator listener answers to a writer.
func (p *Process) get(ctx context.Context, path string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Operator+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+operatorToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s on the operator listener: %s", path, response.Status)
	}
	_, err = io.Copy(to, response.Body)
	return err
}

// Metrics reads figures of /metrics by their names, such as go_gc_gogc_percent. All must be there.
func (p *Process) Metrics(ctx context.Context, names ...string) (map[string]float64, error) {
	var text bytes.Buffer
	if err := p.get(ctx, "/metrics", &text); err != nil {
		return nil, err
	}
	found := make(map[string]float64, len(names))
	for line := range strings.Lines(text.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, wanted := range names {
			if name != wanted {
				continue
			}
			figure, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", name, err)
			}
			found[name] = figure
		}
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("%s does not have all metrics of %s", p.Operator, strings.Join(names, ", "))
	}
	return found, nil
}

// CollectGarbage runs a garbage collection of the server.
func (p *Process) CollectGarbage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gcTimeout)
	defer cancel()
	return p.get(ctx, "/debug/pprof/heap?gc=1", io.Discard)
}

// Profile writes a profile of the server's processor time over some seconds.
func (p *Process) Profile(ctx context.Context, seconds int, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Duration(seconds)*time.Second)
	defer cancel()
	return p.get(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds), to)
}
