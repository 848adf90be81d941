// Package inspection inspects an uploaded file and makes the files that others may see: a preview, and a published version when
// the file becomes public (§2.7, §4.8, §8).
//
// Inspector, the parent half, starts the program that lies beside the server's (Program); Main, the child half, does everything
// that touches the bytes. pdfcpu is used here alone, libvips by package render alone, which only the child's program links.
//
// Invariants. The child is confined before it reads a byte, under any user that runs the server: Landlock for files, an allowlist
// of system calls, bounded memory, processor time and file size, no capabilities, an environment without secrets, no descriptor
// but the standard three, and its own account if the server is root. Confinement reports which of them the kernel lacks. The
// child writes no file: its results are on standard output. It scans headers and structure with code of this package first
// (image_jpeg.go, image_png.go, pdf_scan.go), and only files that pass reach a library; libvips may use only the loader of the
// recognised type. A file is accepted only if it was decoded without any warning and rendered.
//
// Failure. If the bytes are to blame, the result is a report, never an error: a refusal found by the scan, a decoder that aborts,
// a limit reached, a response that makes no sense. Report.Ending distinguishes crashes and limits from refusals. An error means
// that this machine could not inspect the file (no child, no space, a cancelled context, a child that another process killed); it
// may be tried again.
//
// Concurrency. Inspections share nothing and may overlap; the caller bounds how many do (§8 grants two).
package inspection

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Inspector inspects files and can keep one child started ahead: confined, and waiting for its file. Starting a child takes
// longer than most inspections. Each child inspects one file and ends. An Inspector may be used by any number of goroutines; the
// zero value keeps no child. Call Close.
type Inspector struct {
	// wall is how long a child may take by the clock; 0 means wallTime.
	wall time.Duration
	// spare hands over the child that waits; nil if none is kept.
	spare chan *process
	// stop ends keepSpare, which then closes stopped.
	stop, stopped chan struct{}
}

// NewInspector returns an Inspector that keeps one child started ahead, and starts it.
func NewInspector() *Inspector {
	i := &Inspector{spare: make(chan *process), stop: make(chan struct{}), stopped: make(chan struct{})}
	go i.keepSpare()
	return i
}

// spareRetry is the time after which keepSpare tries again if a child could not be started or has ended by itself.
const spareRetry = time.Second

// keepSpare keeps one child started and waiting, until Close.
func (i *Inspector) keepSpare() {
	defer close(i.stopped)
	for {
		if p, err := start(); err == nil { // an inspection returns the error
			select {
			case i.spare <- p:
				continue
			case <-p.exited:
			case <-i.stop:
			}
			p.close()
		}
		select {
		case <-i.stop:
			return
		case <-time.After(spareRetry):
		}
	}
}

// CloseMemory protects this process's memory and environment from other processes of the same user, permanently
// (PR_SET_DUMPABLE). Nothing else protects them from a child with the server's user on a kernel without Landlock. A server calls
// it first.
func CloseMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process's memory to others: %w", err)
	}
	return nil
}

// Inspect inspects one file in a child process, with at most 5 s of processor time until the verdict, 15 s with a published
// version, and 512 MiB, and returns its report (§4.8). The report holds everything that the bytes can cause; the time that it
// takes on a busy machine has no influence. An error means that the machine failed or ctx ended: the inspection may be repeated.
func (i *Inspector) Inspect(ctx context.Context, r Request) (Report, error) {
	if _, known := purposes[r.Purpose]; !known {
		return Report{}, fmt.Errorf("inspection: unknown purpose %q", r.Purpose)
	}
	report, _, err := i.run(ctx, r)
	return report, err
}

// run is Inspect for any purpose; it also returns the child's resource usage.
func (i *Inspector) run(ctx context.Context, r Request) (Report, *os.ProcessState, error) {
	p, err := i.takeChild()
	if err != nil {
		return Report{}, nil, err
	}
	p.wall = i.wall
	report, err := p.inspect(ctx, r)
	return report, p.cmd.ProcessState, err
}

// takeChild returns the spare, or a new child if none waits.
func (i *Inspector) takeChild() (*process, error) {
	select {
	case p := <-i.spare:
		return p, nil
	default:
		return start()
	}
}

// Confinement starts a child and returns its measures, and whether the server's memory is closed to it.
func (i *Inspector) Confinement(ctx context.Context) ([]Measure, error) {
	p, err := i.takeChild()
	if err != nil {
		return nil, err
	}
	measures, err := p.measures(ctx)
	if err != nil {
		return nil, err
	}
	return append(measures, closedMemory()), nil
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
func (i *Inspector) Close() {
	if i.stop != nil {
		close(i.stop)
		<-i.stopped
	}
}
