package inspection

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Subcommand is the hidden command, first argument of the binary, under which Main must be called with the arguments that
// follow. Only the parent half gives it.
const Subcommand = "inspect-file"

// task is the line before the file on the child's standard input. A child that was started ahead waits for it.
type task struct {
	Purpose Purpose `json:"purpose"`
	// Size is how many bytes follow.
	Size int64 `json:"size"`
}

// ready is the first line of the child's standard output, once it is confined: what ends it afterwards is the file's doing. Its verdict
// follows.
type ready struct {
	Measures []Measure `json:"measures"`
}

// Exit codes of the child beside 0: a verdict was written, or there was no file to judge.
const (
	// exitPanic is how the Go runtime ends a program that fails, also on a signal in C code.
	exitPanic = 2
	// exitUnable says that this machine, not the file, is at fault.
	exitUnable = 75
	// exitLate says that the parent did not end the child in time.
	exitLate = 76
	// exitNoProc says that this process cannot have the namespaces it was started with.
	exitNoProc = 77
)

// Main is the child half: it confines this process for good, reads a file from standard input, judges it, writes what it makes into
// the working folder and its verdict to standard output, and returns the exit code.
func Main(args []string) int { return child(args, steps, judge) }

// child is Main with other steps and another judge, for tests of the confinement.
func child(args []string, steps []step, judge func([]byte, Purpose) (verdict, error)) int {
	err := answer(args, steps, judge)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoProc):
		return exitNoProc
	}
	fmt.Fprintln(os.Stderr, err)
	return exitUnable
}

// answer does the child's work; an error is the machine's fault.
func answer(args []string, steps []step, judge func([]byte, Purpose) (verdict, error)) error {
	c, err := parseCircumstances(args)
	if err != nil {
		return err
	}
	if err := closeDescriptors(); err != nil {
		return err
	}
	measures, err := confine(c, steps)
	if err != nil {
		return err
	}
	if err := sayReady(measures); err != nil {
		return err
	}
	asked, file, err := readTask(os.Stdin)
	if errors.Is(err, io.EOF) {
		return nil // nobody needs this child any more
	}
	if err != nil {
		return err
	}
	v, err := judge(file, asked.Purpose)
	var refused refusal
	switch {
	case errors.As(err, &refused):
		v.Reason = refused.Error()
	case errors.Is(err, syscall.EFBIG):
		v.Reason = refusedLimits.Error()
	case err != nil:
		return err
	}
	return json.MarshalWrite(os.Stdout, v)
}

// closeDescriptors makes sure that the standard three are all that the child inherited. The Go runtime opens its own, such as that of
// epoll, only later or anew.
func closeDescriptors() error {
	// Marked in the parent, too (start); this closes what another thread of it opened meanwhile.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil //nolint:nilerr // without /proc the parent's marks must do
	}
	for _, entry := range entries {
		var fd int
		if _, err := fmt.Sscan(entry.Name(), &fd); err != nil || fd <= unix.Stderr {
			continue
		}
		if to, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && !strings.HasPrefix(to, "anon_inode:") {
			_ = unix.Close(fd) // ReadDir's own is closed already
		}
	}
	return nil
}

func sayReady(measures []Measure) error {
	line, err := json.Marshal(ready{measures})
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	return err
}

// readTask waits for a task and reads its file. io.EOF says that there is none. From then on the child's time is limited, even if
// its parent dies.
func readTask(in io.Reader) (task, []byte, error) {
	var asked task
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return task{}, nil, err
	}
	time.AfterFunc(orphanTime, func() { os.Exit(exitLate) })
	if err := json.Unmarshal(line, &asked); err != nil {
		return task{}, nil, err
	}
	if asked.Size < 0 || asked.Size > maxFile+1 {
		return task{}, nil, fmt.Errorf("a file of %d bytes", asked.Size)
	}
	file := make([]byte, asked.Size)
	if n, err := io.ReadFull(input, file); err != nil {
		return task{}, nil, fmt.Errorf("%d of %d bytes came", n, asked.Size)
	}
	return asked, file, nil
}
