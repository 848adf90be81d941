package inspection

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// environment is the child's whole environment; it holds nothing from the server's. Decoders run on one thread, without caches
// and temporary files.
var environment = []string{
	"GOMAXPROCS=1",
	"GORACE=atexit_sleep_ms=0", // a build with the race detector would sleep a second at its end
	"GOMEMLIMIT=" + goMemory,
	"GOTRACEBACK=none",
	"HOME=/nonexistent",
	"LC_ALL=C.UTF-8",
	"MALLOC_ARENA_MAX=1",
	"TMPDIR=/nonexistent",
	"VIPS_CONCURRENCY=1",
	"VIPSHOME=/nonexistent", // libvips starts without its modules (render/strict.c)
	"VIPS_DISC_THRESHOLD=1g",
	"XDG_CACHE_HOME=/nonexistent",
}

// process is a started child. It inspects one file.
type process struct {
	cmd            *exec.Cmd
	stdin          *os.File
	stdout, stderr capped
	// exited is closed when the process has ended and its output is read.
	exited chan struct{}
	wall   time.Duration
}

// start starts a child, confined as far as the kernel allows, which waits for a request. Call close.
func start() (*process, error) {
	path, err := program()
	if err != nil {
		return nil, fmt.Errorf("inspection: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	p := &process{
		cmd: &exec.Cmd{
			Path: path, Args: []string{Program, Subcommand, strconv.Itoa(pickAccount())}, Dir: "/", Env: environment,
			WaitDelay: time.Second, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		},
		stdin: writer, stdout: capped{most: maxAnswer + 2*maxWritten}, stderr: capped{most: maxComplaint}, exited: make(chan struct{}),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = reader, &p.stdout, &p.stderr
	_ = unix.CloseRange(uint(unix.Stderr+1), ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11; closeDescriptors does the rest
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("inspection: %w", errors.Join(err, writer.Close()))
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState holds the result
		close(p.exited)
	}()
	return p, nil
}

// kill ends the child and whatever it started.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// close ends the child, if it still runs.
func (p *process) close() {
	_ = p.stdin.Close() // its reader may be gone
	p.kill()
}

// send sends the child its request and the file. It is no error if the child ends before it has read everything.
func (p *process) send(r Request) error {
	info, err := r.Original.Stat()
	if err != nil {
		return err
	}
	size := min(info.Size(), maxFile+1)
	line, err := json.Marshal(request{Purpose: r.Purpose, Page: r.Page, Size: size})
	if err != nil {
		return err
	}
	_, err = p.stdin.Write(append(line, '\n'))
	if err == nil {
		_, err = io.CopyN(p.stdin, r.Original, size)
	}
	if err = errors.Join(err, p.stdin.Close()); errors.Is(err, unix.EPIPE) {
		return nil
	}
	return err
}

// measures ends the child, which gets no file, and returns the measures that confined it.
func (p *process) measures(ctx context.Context) ([]Measure, error) {
	defer p.close()
	_ = p.stdin.Close() // the child ends
	select {
	case <-p.exited:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	first, _, ok := p.answer()
	if !ok {
		return nil, p.failure()
	}
	return first.Measures, nil
}

// failure describes a child that has ended before it was ready.
func (p *process) failure() error {
	return fmt.Errorf("inspection: exit %d: %.1024q", p.cmd.ProcessState.ExitCode(), p.stderr.kept)
}

// answer returns the first line of the output of a child that has ended, and the rest. ok is false if the line is incomplete or
// malformed.
func (p *process) answer() (first ready, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(p.stdout.kept, []byte{'\n'})
	ok = ok && json.Unmarshal(line, &first) == nil
	return first, rest, ok
}

// capped keeps the first bytes written to it and drops the rest.
type capped struct {
	kept []byte
	most int
}

func (c *capped) Write(b []byte) (int, error) {
	c.kept = append(c.kept, b[:min(len(b), c.most-len(c.kept))]...)
	return len(b), nil
}

// Request names a file to inspect.
type Request struct {
	// Original is the file, read from its beginning.
	Original *os.File
	// Purpose of the upload.
	Purpose Purpose
	// Page of a PDF to draw, as the report's Preview; 0 for the whole inspection.
	Page int
}

// inspect sends the child the file, waits for its answer, and ends it.
func (p *process) inspect(ctx context.Context, r Request) (Report, error) {
	defer p.close()
	limited, cancel := context.WithTimeout(ctx, cmp.Or(p.wall, wallTime))
	defer cancel()
	defer context.AfterFunc(limited, p.kill)()
	failed := p.send(r)
	if failed != nil {
		p.kill()
	}
	<-p.exited
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	if failed != nil {
		return Report{}, failed
	}
	_, answer, ok := p.answer()
	if !ok || p.cmd.ProcessState.ExitCode() == exitUnable {
		return Report{}, p.failure()
	}
	report := Report{Reason: refusedLimits.Error(), Ending: p.ending()}
	if report.Ending == Completed {
		report = readReport(answer, r.Purpose)
	}
	report.Processor = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	return report, nil
}

// Program is the name of the program that is the child. It lies in the folder of the server's program.
const Program = "stoa-inspect"

// program returns the path of the child's program.
var program = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return openProgram(self)
})

// openProgram opens the program beside another one and returns a path to it that works as long as this process lives: after an
// upgrade, a server goes on with the version that it was started with. It uses no os.File, which the runtime would close.
func openProgram(beside string) (string, error) {
	file, err := unix.Open(filepath.Join(filepath.Dir(beside), Program), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("%s, the program that inspects files, must lie beside %s: %w", Program, filepath.Base(beside), err)
	}
	return fmt.Sprintf("/proc/self/fd/%d", file), nil
}

// FindProgram returns an error if the child's program is missing. A server that inspects files calls it first.
func FindProgram() error {
	_, err := program()
	return err
}

// UseProgram makes path the child's program, for tests whose binary is its own child. Call it before anything else.
func UseProgram(path string) { program = func() (string, error) { return path, nil } }
