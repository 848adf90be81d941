package inspection

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Subcommand is the first argument of the child's program.
const Subcommand = "inspect-file"

// request is the line before the file on the child's standard input. A child that was started ahead waits for it.
type request struct {
	Purpose Purpose `json:"purpose"`
	// Page is the page of a PDF to draw; 0 for all files of the purpose.
	Page int `json:"page"`
	// Size is how many bytes follow.
	Size int64 `json:"size"`
}

// ready is the first line of the child's standard output, written once the child is confined. The file can cause only a failure
// after it. The response follows.
type ready struct {
	Measures []Measure `json:"measures"`
}

// Exit codes of the child. 0 means that a response was written, or that there was no file to inspect.
const (
	// exitPanic is how the Go runtime ends a program that fails, also on a signal in C code.
	exitPanic = 2
	// exitUnable means that this machine, not the file, is at fault.
	exitUnable = 75
	// exitLate means that the parent did not end the child in time.
	exitLate = 76
	// exitSpent means that there was no verdict within cpuTime.
	exitSpent = 77
)

// Main is the child half; call it with all arguments of the program. It confines this process permanently, reads a file from
// standard input, inspects it, writes its response and its files to standard output, and returns the exit code.
func Main(args []string, with Renderer) int { return child(args, steps, inspection{with}.file) }

// child is Main with other steps and another inspection, for tests of the confinement.
func child(args []string, steps []step, inspect func([]byte, request) (Report, error)) int {
	if err := serve(args, steps, inspect); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnable
	}
	return 0
}

// serve does the child's work; an error is the machine's fault.
func serve(args []string, steps []step, inspect func([]byte, request) (Report, error)) error {
	if len(args) != 2 || args[0] != Subcommand {
		return errors.New("only stoa starts " + Program + ": it inspects one file and ends")
	}
	account, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	closeDescriptors()
	measures, err := confine(account, steps)
	if err != nil {
		return err
	}
	if err := writeLine(ready{measures}); err != nil {
		return err
	}
	asked, file, err := readRequest(os.Stdin)
	if errors.Is(err, io.EOF) {
		return nil // the parent has ended or no longer needs this child
	}
	if err != nil {
		return err
	}
	if err := allowInspection(asked.Purpose); err != nil {
		return err
	}
	r, err := inspect(file, asked)
	var refused refusal
	switch {
	case errors.As(err, &refused):
		r = Report{MediaType: r.MediaType, Reason: refused.Error()}
	case err != nil:
		return err
	}
	if err := writeLine(response{r, len(r.Preview), len(r.Published)}); err != nil {
		return err
	}
	for _, made := range [][]byte{r.Preview, r.Published} {
		if _, err := os.Stdout.Write(made); err != nil {
			return err
		}
	}
	return nil
}

// allowInspection ends this process after cpuTime, whatever the purpose is. allowCopy lets it go on once there is a verdict, so
// that an accepted file is not lost because of its copy.
func allowInspection(p Purpose) error {
	if !purposes[p].preview {
		return nil // an earlier inspection accepted the file
	}
	spent := make(chan os.Signal, 1)
	signal.Notify(spent, unix.SIGXCPU) // which the Go runtime ignores otherwise
	go func() {
		<-spent
		os.Exit(exitSpent)
	}()
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: cpuTime, Max: copyTime})
}

func allowCopy() error {
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: copyTime, Max: copyTime})
}

// closeDescriptors closes all descriptors that the child inherited, except the standard three. The Go runtime opens its own
// descriptors, such as epoll's, later or again. start has marked the parent's descriptors to be closed; this closes the ones that
// another thread of the parent opened meanwhile. Without /proc only the marks help.
func closeDescriptors() {
	paths, _ := filepath.Glob("/proc/self/fd/*") // the pattern is well formed
	for _, path := range paths {
		fd, _ := strconv.Atoi(filepath.Base(path)) // a number
		if to, err := os.Readlink(path); err == nil && fd > unix.Stderr && !strings.HasPrefix(to, "anon_inode:") {
			_ = unix.Close(fd) // Glob's own is closed already
		}
	}
}

// writeLine writes a value as a line of standard output.
func writeLine(value any) error {
	line, err := json.Marshal(value)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	return err
}

// readRequest waits for a request and reads its file. io.EOF means that no further request comes. After a request the child's
// time is limited, even if its parent dies.
func readRequest(in io.Reader) (request, []byte, error) {
	var asked request
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return request{}, nil, err
	}
	time.AfterFunc(orphanTime, func() { os.Exit(exitLate) })
	if err := json.Unmarshal(line, &asked); err != nil {
		return request{}, nil, err
	}
	if asked.Size < 0 || asked.Size > maxFile+1 {
		return request{}, nil, fmt.Errorf("a file of %d bytes", asked.Size)
	}
	file := make([]byte, asked.Size)
	if n, err := io.ReadFull(input, file); err != nil {
		return request{}, nil, fmt.Errorf("%d of %d bytes came", n, asked.Size)
	}
	return asked, file, nil
}

// The limits of §8, and the longest sides of the pictures that are made, in pixels.
const (
	mebibyte = 1 << 20

	maxFile       = 20 * mebibyte // bytes of an original
	maxPixels     = 20_000_000    // width times height of an image
	maxPages      = 200           // of a PDF
	previewSide   = 1024
	publishedSide = 4096
)

// The limits of one inspection.
const (
	// wallTime is how long the parent waits before it kills a child, even on a busy machine: a child that gets an eighth of a
	// processor may still use all of its copyTime. It decides nothing about the file. orphanTime ends a child whose parent died.
	wallTime   = 8 * copyTime * time.Second
	orphanTime = wallTime + 2*time.Second
	// cpuTime is the processor time in seconds until the verdict, copyTime the time including the copy of an image.
	cpuTime  = 5 * min(instrumented, 3)
	copyTime = 15
	// maxMemory bounds a child's real memory in bytes, libraries included.
	maxMemory = instrumented * 512 * mebibyte
	// maxAdded is the address space that a child may add to what it has at its start (RLIMIT_AS). The Go runtime and the
	// libraries reserve far more there than they use, so only what is added bounds real memory. RLIMIT_DATA does not: the kernel
	// lets the one block that passes it become writable, and Go asks for half a gigabyte at once.
	maxAdded     = instrumented * 384 * mebibyte
	goMemory     = "192MiB"      // at which the child's Go half starts to collect eagerly (GOMEMLIMIT)
	maxWritten   = 32 * mebibyte // bytes of each file that the child makes
	maxOpen      = 64            // file descriptors
	maxThreads   = 64            // threads, if the kernel counts them for the child alone (RLIMIT_NPROC)
	maxComplaint = 64 << 10      // bytes of the child's standard error that are kept
	maxAnswer    = 16 << 10      // bytes of the lines of its standard output
)

// The limits of a file's structure.
const (
	maxScans    = 500           // passes of a progressive JPEG: each walks the whole picture again
	maxPictures = 16            // further pictures of a multi-picture JPEG
	maxDecoded  = 32 * mebibyte // bytes of one decoded stream of a PDF, images aside
	maxObjects  = 500_000       // objects of a PDF
	maxNesting  = 64            // depth of a PDF's arrays and dictionaries, and of its page tree
	maxNodes    = 4096          // nodes of a page tree
	maxSide     = 200_000       // points (1/72 inch) of a side of a page box, user units included
	maxTail     = 1024          // bytes after the last %%EOF of a PDF
)
