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

// environment is all of the child's; nothing of the server's is in it. Decoders run on one thread, without caches and temporary
// files.
var environment = []string{
	"GOMAXPROCS=1",
	"GORACE=atexit_sleep_ms=0", // a build with the race detector would sleep a second at its end
	"GOMEMLIMIT=" + goMemory,
	"GOTRACEBACK=none",
	"HOME=/nonexistent",
	"LC_ALL=C.UTF-8",
	"MALLOC_ARENA_MAX=1",
	"TMPDIR=.",
	"VIPS_CONCURRENCY=1",
	"VIPSHOME=/nonexistent", // libvips starts without its modules (render/strict.c)
	"VIPS_DISC_THRESHOLD=1g",
	"XDG_CACHE_HOME=.",
}

// process is a child from its start on. It inspects one file.
type process struct {
	cmd *exec.Cmd
	// folder is the parent's; the child works in a folder of it.
	folder *folder
	stdin  *os.File
	stdout output
	stderr capped
	// exited is closed when the process has ended and failed is set.
	exited chan struct{}
	failed error
	wall   time.Duration
}

// start starts a child, confined as far as the kernel allows, which waits for a request. Call close.
func start(scratch string) (*process, error) {
	path, err := program()
	if err != nil {
		return nil, fmt.Errorf("inspection: %w", err)
	}
	account := pickAccount()
	made, err := newFolder(scratch, account)
	if err != nil {
		return nil, err
	}
	if !made.owned {
		account = 0
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, made.remove())
	}
	defer reader.Close()
	p := &process{
		cmd: &exec.Cmd{
			Path: path, Args: []string{Program, Subcommand, strconv.Itoa(account)}, Dir: made.work(), Env: environment,
			WaitDelay: time.Second, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		},
		folder: made, stdin: writer,
		stdout: output{capped: capped{most: maxAnswer}, ready: make(chan struct{})}, stderr: capped{most: maxComplaint},
		exited: make(chan struct{}),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = reader, &p.stdout, &p.stderr
	_ = unix.CloseRange(uint(unix.Stderr+1), ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11; closeDescriptors does the rest
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("inspection: %w", errors.Join(err, writer.Close(), made.remove()))
	}
	go func() {
		p.failed = p.cmd.Wait()
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

// close ends the child, if it still runs, and removes its folder.
func (p *process) close() error {
	_ = p.stdin.Close() // its reader may be gone
	p.kill()
	return p.folder.remove()
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

// wait returns once the child and the sending have ended: the child by itself, or because ctx ended or the file could not be
// sent. It returns the error of the sending.
func (p *process) wait(ctx context.Context, sent <-chan error) error {
	select {
	case <-p.exited:
		return <-sent // the reader has gone
	case <-ctx.Done():
		p.kill()
		return <-sent
	case err := <-sent:
		if err != nil {
			p.kill()
		}
		select {
		case <-p.exited:
		case <-ctx.Done():
			p.kill()
		}
		return err
	}
}

// measures waits until the child is confined and returns how.
func (p *process) measures(ctx context.Context) ([]Measure, error) {
	select {
	case <-p.stdout.ready:
	case <-p.exited:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	first, _, ok := p.stdout.split()
	if !ok {
		<-p.exited
		return nil, p.failure()
	}
	return first.Measures, nil
}

// failure describes a child that has ended before it was ready.
func (p *process) failure() error {
	return fmt.Errorf("inspection: exit %d: %.1024q", p.cmd.ProcessState.ExitCode(), p.stderr.kept)
}

// output keeps the child's standard output and closes ready when its first line is there.
type output struct {
	capped
	mu      sync.Mutex
	ready   chan struct{}
	isReady bool
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.capped.Write(b)
	if !o.isReady && bytes.IndexByte(o.kept, '\n') >= 0 {
		o.isReady = true
		close(o.ready)
	}
	return n, err
}

// split returns the first line and what follows, and whether the first line is there and well formed.
func (o *output) split() (first ready, rest []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, rest, ok := bytes.Cut(o.kept, []byte{'\n'})
	if ok && json.Unmarshal(line, &first) != nil {
		ok = false
	}
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
	// Scratch is an existing folder in which the inspection makes its own folder, for Report.Remove to delete; empty means the
	// system's folder for temporary files.
	Scratch string
}

// inspect lets the child inspect a file and takes over what it made. It closes the child unless the report needs its folder.
func (p *process) inspect(ctx context.Context, r Request) (Report, error) {
	report, err := p.exchange(ctx, r)
	if err != nil {
		return Report{}, errors.Join(err, p.close())
	}
	return report, nil
}

// exchange sends the file, waits for the response and makes the report.
func (p *process) exchange(ctx context.Context, r Request) (Report, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(p.wall, wallTime))
	defer cancel()
	sent := make(chan error, 1)
	go func() { sent <- p.send(r) }()
	sendErr := p.wait(limited, sent)
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	_, rest, ok := p.stdout.split()
	if !ok || p.cmd.ProcessState.ExitCode() == exitUnable {
		return Report{}, p.failure()
	}
	if sendErr != nil {
		return Report{}, sendErr
	}
	report := Report{folder: p.folder, Processor: p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()}
	if report.Ending = p.ending(r.Purpose); report.Ending != Completed {
		report.Reason = refusedLimits.Error()
		return report, p.folder.clear()
	}
	var answer response
	if json.Unmarshal(rest, &answer) != nil || !answer.wellFormed() {
		return refuse(report), p.folder.clear()
	}
	report.MediaType, report.Reason = answer.MediaType, answer.Reason
	if answer.Accepted {
		var err error
		if report, err = collect(report, answer, r.Purpose); err != nil {
			return Report{}, err
		}
	}
	return report, p.folder.clear()
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

// openProgram opens the program beside another one and returns a path that leads to it for as long as this process lives: a server goes
// on with the version that it was started with, whatever an upgrade puts in its place.
func openProgram(beside string) (string, error) {
	file, err := os.Open(filepath.Join(filepath.Dir(beside), Program))
	if err != nil {
		return "", fmt.Errorf("%s, the program that inspects files, must lie beside %s: %w", Program, filepath.Base(beside), err)
	}
	opened.Store(file, true)
	return fmt.Sprintf("/proc/self/fd/%d", file.Fd()), nil
}

// opened keeps programs open: the runtime closes a file that nothing refers to.
var opened sync.Map

// FindProgram returns an error if the child's program is missing. A server that inspects files calls it first.
func FindProgram() error {
	_, err := program()
	return err
}

// UseProgram makes path the child's program, for tests whose binary is its own child. Call it before anything else.
func UseProgram(path string) { program = func() (string, error) { return path, nil } }
