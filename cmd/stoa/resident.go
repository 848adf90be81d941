package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// neighbours is how much of a file one touch may bring in, in bytes: a power of two, no smaller than a page.
const neighbours = 128 << 10

const (
	// heapGrowth is how much the heap may grow between collections, in percent of what is in use, unless GOGC says it. What is in use is
	// little (7 MB), and collecting as often as Go does by itself was a fifth of the work of a request.
	heapGrowth = 300
	// restTime is how long the process must have done little before it gives memory back, little is what it may have allocated
	// meanwhile, in bytes.
	restTime = 30 * time.Second
	little   = 16 << 20
)

// economise gives back now what only starting needed, and later what a burst needed, each time the process has come to rest,
// until ctx ends. A failure costs memory and is logged.
func economise(ctx context.Context, log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	give := func() {
		if err := shrink(); err != nil {
			log.Warn("memory that nothing needs stays resident", "error", err)
		}
	}
	give()
	go func() {
		ticks := time.NewTicker(restTime)
		defer ticks.Stop()
		at := effort{before: allocated()}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if at.rests(allocated()) {
				give()
			}
		}
	}()
}

// effort tells work from rest.
type effort struct {
	// before is what had been allocated at the last look.
	before uint64
	busy   bool
}

// rests says whether the process has come to rest since the last look, given what was ever allocated.
func (e *effort) rests(now uint64) bool {
	worked := e.busy
	e.busy = now-e.before > little
	e.before = now
	return worked && !e.busy
}

// allocated is the number of bytes that were ever allocated on the heap.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// shrink gives back what only starting needed: free heap, and pages that merely copy the program and its libraries. What is
// still in use comes back from the page cache at the next touch.
//
// It would come back with whole neighbourhoods, 2 MiB where the kernel maps files so generously, and most of this program rests:
// decoders that only the inspecting child calls, object stores, generated code. A neighbourhood ends with its mapping, so every
// second piece gets an attribute, which costs nothing by itself but makes each piece a mapping of its own. No mapping of a file is ever taken down here, so none can have become something else meanwhile.
func shrink() error {
	debug.FreeOSMemory()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer file.Close()
	copies, err := fileCopies(file)
	if err != nil {
		return err
	}
	for _, m := range copies {
		for at := m.start &^ (2*neighbours - 1); at < m.end; at += 2 * neighbours {
			start, end := max(at, m.start), min(at+neighbours, m.end)
			if start >= end {
				continue
			}
			if err := advise(start, end, unix.MADV_NOHUGEPAGE); err != nil && !errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("divide a mapping: %w", err)
			} // EINVAL: this kernel has no large pages
		}
		if err := advise(m.start, m.end, unix.MADV_DONTNEED); err != nil {
			return fmt.Errorf("give pages back: %w", err)
		}
	}
	return nil
}

func advise(start, end uintptr, advice uintptr) error {
	if _, _, failed := unix.Syscall(unix.SYS_MADVISE, start, end-start, advice); failed != 0 {
		return failed
	}
	return nil
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// fileCopies picks from the text of /proc/<pid>/smaps the mappings that hold nothing but what their files do: private, not
// writable, and without a page of their own, as those have that the loader relocated.
func fileCopies(smaps io.Reader) ([]mapping, error) {
	var (
		copies []mapping
		m      mapping
		copied bool
	)
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			if _, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end); err != nil {
				return nil, fmt.Errorf("smaps: %w", err)
			}
			inode := fields[4]
			copied = strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(fields[1], "p") && inode != "0"
		case copied && len(fields) >= 2 && fields[0] == "Anonymous:" && fields[1] == "0":
			copies = append(copies, m)
		}
	}
	return copies, lines.Err()
}
