package inspection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// self is this very binary, wherever it lies and whatever has replaced it since.
const self = "/proc/self/exe"

// environment is all the child knows of ours: nothing. Decoders run on one thread, without caches and temporary files.
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
	"VIPS_DISC_THRESHOLD=1g",
	"XDG_CACHE_HOME=.",
}

// process is a child from its start on. It takes one task.
type process struct {
	cmd *exec.Cmd
	// isolation is its index in isolations.
	isolation int32
	// folder is the parent's; the child works in folder/root/work.
	folder *folder
	stdin  *os.File
	out    output
	said   capped // standard error
	// exited is closed when the process has ended and failed is set.
	exited chan struct{}
	failed error
}

// errRefused says that the kernel refuses the isolation a child was started in; a weaker one is tried next.
var errRefused = errors.New("inspection: the kernel refuses these namespaces")

// start starts a child, confined as far as the kernel allows, which waits for a task. Call close.
func start(scratch string) (*process, error) {
	for {
		p, err := tryStart(scratch)
		if !errors.Is(err, errRefused) {
			return p, err
		}
	}
}

func tryStart(scratch string) (*process, error) {
	user := pickUser()
	made, err := newFolder(scratch, user)
	if err != nil {
		return nil, err
	}
	if !made.owned {
		user = 0
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, made.remove())
	}
	defer reader.Close()
	index := granted.Load()
	p := &process{
		cmd: command(made.work(), user, isolations[index]), isolation: index, folder: made, stdin: writer,
		out: output{capped: capped{most: maxAnswer}, ready: make(chan struct{})}, said: capped{most: maxComplaint}, exited: make(chan struct{}),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = reader, &p.out, &p.said
	p.cmd.WaitDelay = time.Second
	closeOnExec()
	if err := p.cmd.Start(); err != nil {
		err = errors.Join(err, writer.Close(), made.remove())
		if refusesNamespaces(err) && deny(index) {
			err = errRefused
		}
		return nil, fmt.Errorf("inspection: %w", err)
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

// give hands the child its task: a file of a purpose. A child that ends before it has read everything is no error here.
func (p *process) give(original *os.File, purpose Purpose) error {
	info, err := original.Stat()
	if err != nil {
		return err
	}
	size := min(info.Size(), maxFile+1)
	line, err := json.Marshal(task{Purpose: purpose, Size: size})
	if err != nil {
		return err
	}
	_, err = p.stdin.Write(append(line, '\n'))
	if err == nil {
		_, err = io.CopyN(p.stdin, original, size)
	}
	if err = errors.Join(err, p.stdin.Close()); errors.Is(err, unix.EPIPE) {
		return nil
	}
	return err
}

// wait returns once the child has ended: by itself, or because ctx ended or its file could not be given to it. It returns how giving
// went, which has ended as well.
func (p *process) wait(ctx context.Context, given <-chan error) error {
	select {
	case <-p.exited:
		return <-given // nobody reads any more
	case <-ctx.Done():
		p.kill()
		return <-given
	case err := <-given:
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
	case <-p.out.ready:
	case <-p.exited:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	first, _, ok := p.out.split()
	if !ok {
		<-p.exited
		return nil, p.unable()
	}
	return first.Measures, nil
}

// unable describes a child that has ended before it was ready.
func (p *process) unable() error {
	code := p.cmd.ProcessState.ExitCode()
	if code == exitNoProc && deny(p.isolation) {
		return errRefused
	}
	return fmt.Errorf("inspection: exit %d: %.1024q", code, p.said.kept)
}

// output keeps the child's standard output and tells when its first line is there.
type output struct {
	capped
	mu    sync.Mutex
	ready chan struct{}
	told  bool
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.capped.Write(b)
	if !o.told && bytes.IndexByte(o.kept, '\n') >= 0 {
		o.told = true
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

// capped keeps the first bytes written to it and lets the rest go by.
type capped struct {
	kept []byte
	most int
}

func (c *capped) Write(b []byte) (int, error) {
	c.kept = append(c.kept, b[:min(len(b), c.most-len(c.kept))]...)
	return len(b), nil
}
