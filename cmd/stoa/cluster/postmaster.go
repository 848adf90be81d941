package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// watchInterval is how often an adopted postmaster, which is not our child, is checked.
	watchInterval = 100 * time.Millisecond
	// immediateTimeout bounds an immediate shutdown. PostgreSQL itself kills
	// children that do not end after 5 s.
	immediateTimeout = 7 * time.Second
)

// postmaster is the database's first process, our child or adopted.
type postmaster struct {
	process
	exited   chan struct{} // closed once it has ended
	released chan struct{} // closed when it is no longer watched
	release  func()
}

func newPostmaster(p process) *postmaster {
	pm := &postmaster{process: p, exited: make(chan struct{}), released: make(chan struct{})}
	pm.release = sync.OnceFunc(func() { close(pm.released) })
	return pm
}

// watchChild watches a child of ours and reaps it.
func watchChild(cmd *exec.Cmd) (*postmaster, error) {
	now, err := readProcess(cmd.Process.Pid)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	pm := newPostmaster(now.process)
	go func() {
		defer close(pm.exited)
		_ = cmd.Wait() // how it ended is in its log
	}()
	return pm, nil
}

// watchAdopted watches a postmaster that another process started. It returns nil if that has ended already.
func watchAdopted(pid int) *postmaster {
	now, err := readProcess(pid)
	if err != nil {
		return nil
	}
	pm := newPostmaster(now.process)
	go func() {
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for pm.alive() {
			select {
			case <-pm.released:
				return
			case <-ticker.C:
			}
		}
		close(pm.exited)
	}()
	return pm
}

// ended reports whether the postmaster is gone.
func (pm *postmaster) ended() bool {
	select {
	case <-pm.exited:
		return true
	default:
		return false
	}
}

// stages of a shutdown: fast (open transactions are ended), then immediate (the
// next start recovers).
var stages = []struct {
	signal syscall.Signal
	name   string
}{
	{syscall.SIGINT, "fast"},
	{syscall.SIGQUIT, "immediate"},
	{syscall.SIGKILL, "last"},
}

// shutdown ends the database. The fast stage lasts as long as ctx; an error says
// that it was not enough.
func (pm *postmaster) shutdown(ctx context.Context) error {
	var failed error
	for _, stage := range stages {
		pm.signal(stage.signal)
		select {
		case <-pm.exited:
			return failed
		case <-ctx.Done():
		}
		failed = errors.Join(failed, fmt.Errorf("the database did not end at the %s stage: %w", stage.name, context.Cause(ctx)))
		next, cancel := context.WithTimeout(context.Background(), immediateTimeout)
		defer cancel()
		ctx = next //nolint:fatcontext // a stage has its own time limit
	}
	return fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, failed)
}
