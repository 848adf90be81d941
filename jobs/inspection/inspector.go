package inspection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Inspector inspects files and can keep one child started ahead: confined, and waiting for its file. Starting a child takes
// longer than most inspections. Each child still judges one file and ends. An Inspector may be used by any number of goroutines; the
// zero value keeps no child. Call Close.
type Inspector struct {
	keeps bool

	mu     sync.Mutex
	spare  *process
	closed bool
	// starting counts spares being started.
	starting sync.WaitGroup
}

// NewInspector returns an Inspector that keeps one child started ahead, and starts it.
func NewInspector() *Inspector {
	i := &Inspector{keeps: true}
	i.prepare()
	return i
}

// CloseMemory closes this process to others of its own user, for good (PR_SET_DUMPABLE): where a child shares the server's user,
// nothing else in the kernel keeps it from the server's memory and environment once Landlock and namespaces are lacking. A server
// calls it first.
func CloseMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process's memory to others: %w", err)
	}
	return nil
}

// Inspect inspects one file in a child process, for at most 15 s and within 512 MiB, and returns its report (§4.8). Everything the bytes
// can cause is in the report. An error means that the machine failed or ctx ended: the inspection may be repeated, and nothing is left
// behind.
func (i *Inspector) Inspect(ctx context.Context, r Request) (Report, error) {
	if _, known := purposes[r.Purpose]; !known {
		return Report{}, fmt.Errorf("inspection: unknown purpose %q", r.Purpose)
	}
	report, _, err := i.run(ctx, r)
	return report, err
}

// run is Inspect for any purpose; it returns also what the child cost.
func (i *Inspector) run(ctx context.Context, r Request) (Report, *os.ProcessState, error) {
	for {
		p, err := i.take(r.Scratch)
		if err != nil {
			return Report{}, nil, err
		}
		report, err := p.inspect(ctx, r.Original, r.Purpose)
		if errors.Is(err, errRefused) {
			if _, err := r.Original.Seek(0, io.SeekStart); err != nil {
				return Report{}, nil, err
			}
			continue
		}
		i.prepare()
		return report, p.cmd.ProcessState, err
	}
}

// take returns the spare, unless the request needs one in a folder of its own or the spare has ended, or a new child.
func (i *Inspector) take(scratch string) (*process, error) {
	i.mu.Lock()
	spare := i.spare
	if scratch == "" {
		i.spare = nil
	}
	i.mu.Unlock()
	if scratch != "" || spare == nil {
		return start(scratch)
	}
	select {
	case <-spare.exited:
		_ = spare.close() // an old one: its folder may have been removed
		return start(scratch)
	default:
		return spare, nil
	}
}

// prepare starts a spare where there is none, without waiting for it. One that cannot be started is nobody's fault yet: the next
// inspection tries again, and fails with the reason.
func (i *Inspector) prepare() {
	if !i.keeps {
		return
	}
	i.starting.Go(func() {
		i.mu.Lock()
		needed := i.spare == nil && !i.closed
		i.mu.Unlock()
		if !needed {
			return
		}
		p, err := start("")
		if err != nil {
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.spare != nil || i.closed {
			_ = p.close()
			return
		}
		i.spare = p
	})
}

// Confinement starts a child and tells what confines it, and that the server's memory is closed to it.
func (i *Inspector) Confinement(ctx context.Context) ([]Measure, error) {
	for {
		p, err := i.take("")
		if err != nil {
			return nil, err
		}
		measures, err := p.measures(ctx)
		if err != nil {
			err = errors.Join(err, p.close())
			if errors.Is(err, errRefused) {
				continue
			}
			return nil, err
		}
		i.giveBack(p)
		return append(measures, closedMemory()), nil
	}
}

// giveBack makes a child that got no task the spare.
func (i *Inspector) giveBack(p *process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.keeps && i.spare == nil && !i.closed {
		i.spare = p
		return
	}
	_ = p.close()
}

func closedMemory() Measure {
	m := Measure{Name: "server's memory", Detail: "closed to processes of the same user"}
	is, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if m.Holds = err == nil && is == 0; !m.Holds {
		m.Detail = "open to processes of the same user"
	}
	return m
}

// Close ends the child that waits. Inspections under way go on.
func (i *Inspector) Close() error {
	i.mu.Lock()
	i.closed = true
	spare := i.spare
	i.spare = nil
	i.mu.Unlock()
	i.starting.Wait()
	if spare == nil {
		return nil
	}
	return spare.close()
}
