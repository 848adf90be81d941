package inspection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// Request names a file to inspect.
type Request struct {
	// Path is the original on local disk; whoever runs the server must be able to read it, nobody else need be.
	Path string
	// Purpose is what the file was uploaded for.
	Purpose Purpose
	// Scratch is an existing folder in which the inspection makes a folder of its own, for Report.Remove to delete; empty
	// means the system's folder for temporary files.
	Scratch string
}

// Run inspects one file in a child process, for at most 15 s and within 512 MiB, and returns the verdict (§4.8). Everything
// the bytes can cause is a verdict. An error means that the machine failed or ctx ended: the inspection may be repeated, and
// nothing is left behind.
func Run(ctx context.Context, r Request) (Report, error) {
	report, _, err := run(ctx, r)
	return report, err
}

// run is Run, and what the child cost.
func run(ctx context.Context, r Request) (Report, *os.ProcessState, error) {
	if _, known := purposes[r.Purpose]; !known {
		return Report{}, nil, fmt.Errorf("inspection: unknown purpose %q", r.Purpose)
	}
	original, err := os.Open(r.Path)
	if err != nil {
		return Report{}, nil, err
	}
	defer original.Close()
	folder, err := os.MkdirTemp(r.Scratch, "inspection-")
	if err != nil {
		return Report{}, nil, err
	}
	report, state, err := inspect(ctx, folder, original, r.Purpose)
	if err != nil {
		return Report{}, state, errors.Join(err, os.RemoveAll(folder))
	}
	return report, state, nil
}

// inspect runs the child in a folder inside folder, which only the parent can reach, and takes over what it made.
func inspect(ctx context.Context, folder string, original *os.File, p Purpose) (Report, *os.ProcessState, error) {
	work := filepath.Join(folder, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return Report{}, nil, err
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(work, nobody, nobody); err != nil {
			return Report{}, nil, err
		}
	}
	answer, state, err := start(ctx, work, original, p)
	if err != nil {
		return Report{}, state, err
	}
	report := Report{MediaType: answer.MediaType, Reason: answer.Reason, Ending: answer.ending, folder: folder}
	if answer.Accepted {
		report, err = collect(report, answer, work, p)
		if err != nil {
			return Report{}, state, err
		}
	}
	return report, state, os.RemoveAll(work)
}

// self is this very binary, wherever it lies and whatever has replaced it since.
const self = "/proc/self/exe"

// environment is all the child knows of ours: nothing. Decoders run on one thread, without caches and temporary files.
var environment = []string{
	"GOMAXPROCS=1",
	"GOMEMLIMIT=" + goMemory,
	"GOTRACEBACK=none",
	"HOME=/nonexistent",
	"LC_ALL=C.UTF-8",
	"MALLOC_ARENA_MAX=1",
	"TMPDIR=.",
	"VIPS_CONCURRENCY=1",
	"VIPS_DISC_THRESHOLD=1g",
	"XDG_CACHE_HOME=.",
}

// start runs the child and reads its verdict. The child leads a session and process group of its own, and the whole group
// is killed when its time is up.
func start(ctx context.Context, work string, original *os.File, p Purpose) (verdict, *os.ProcessState, error) {
	limited, cancel := context.WithTimeout(ctx, wallTime)
	defer cancel()
	out, complaint := capped{most: maxAnswer}, capped{most: maxComplaint}
	child := exec.CommandContext(limited, self, Subcommand, string(p))
	child.Dir = work
	child.Env = environment
	child.ExtraFiles = []*os.File{original}
	child.Stdout, child.Stderr = &out, &complaint
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
	child.WaitDelay = time.Second
	err := child.Run()
	switch {
	case ctx.Err() != nil:
		return verdict{}, child.ProcessState, ctx.Err()
	case child.ProcessState == nil:
		return verdict{}, nil, fmt.Errorf("inspection: %w", err)
	}
	said, isReady := bytes.CutPrefix(out.kept, []byte(ready))
	if code := child.ProcessState.ExitCode(); code == exitUnable || !isReady {
		return verdict{}, child.ProcessState, fmt.Errorf("inspection: exit %d: %.1024q", code, complaint.kept)
	}
	if err != nil {
		return verdict{Reason: refusedLimits.Error(), ending: endingOf(child.ProcessState, complaint.kept)}, child.ProcessState, nil
	}
	var answer verdict
	if json.Unmarshal(said, &answer) != nil || !answer.presentable() {
		return verdict{Reason: refusedLimits.Error()}, child.ProcessState, nil
	}
	return answer, child.ProcessState, nil
}

// capped keeps the first bytes written to it and lets the rest go by.
type capped struct {
	kept []byte
	most int
}

func (c *capped) Write(b []byte) (int, error) {
	c.kept = append(c.kept, b[:min(len(b), c.most-len(c.kept))]...)
	return len(b), nil
}
