package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// programCommand prepares the program with only these settings; its time-outs are stretched like those of the tests. GOGC is for
// compilers and test programs.
func programCommand(t testing.TB, args []string, settings ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(graphtest.Got(filepath.Abs(testProgram))(t), args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, envPrefix+"_") && !strings.HasPrefix(v, slack.Variable+"=")
	})
	cmd.Env = append(cmd.Env, settings...)
	cmd.Dir = t.TempDir()
	return cmd
}

// runProgram runs the program to its end, in an empty folder.
func runProgram(t testing.TB, args []string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runIn(t, t.TempDir(), args, settings...)
}

// output runs the program, which must succeed, and returns its standard output.
func output(t testing.TB, args []string, settings ...string) string {
	t.Helper()
	return succeeds(t)(runProgram(t, args, settings...))
}

// succeeds returns a check of a run's results, which returns the standard output.
func succeeds(t testing.TB) func(code int, stdout, stderr string) string {
	t.Helper()
	return func(code int, stdout, stderr string) string {
		t.Helper()
		require.Zero(t, code, "%s%s", stdout, stderr)
		return stdout
	}
}

// complaint runs the program, which must fail, and returns its standard error.
func complaint(t testing.TB, args []string, settings ...string) string {
	t.Helper()
	return fails(t, exitFailure)(runProgram(t, args, settings...))
}

// fails returns a check of a run's results, by the exit code and parts of the complaint, which returns the whole complaint.
func fails(t testing.TB, exit int, parts ...string) func(code int, stdout, stderr string) string {
	t.Helper()
	return func(code int, stdout, stderr string) string {
		t.Helper()
		require.Equal(t, exit, code, "%s%s", stdout, stderr)
		for _, part := range parts {
			require.Contains(t, stderr, part)
		}
		return stderr
	}
}

// runIn runs the program to its end in a folder.
func runIn(t testing.TB, folder string, args []string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := programCommand(t, args, settings...)
	cmd.Dir = folder
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(slack.TestWait, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the caller wants its exit code
	if !kill.Stop() {
		fmt.Fprintf(&complaints, "the test killed it after %s", slack.TestWait)
	}
	return cmd.ProcessState.ExitCode(), out.String(), complaints.String()
}

// runInProcess runs a command that starts no server in the process of the test, which saves the start of the program.
func runInProcess(args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	code = run(args, &out, &complaints)
	return code, out.String(), complaints.String()
}

// logBuffer collects the lines of a JSON log.
type logBuffer struct {
	mu    sync.Mutex
	text  []byte
	grown chan struct{}
}

func newLogBuffer() *logBuffer { return &logBuffer{grown: make(chan struct{})} }

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	close(b.grown)
	b.grown = make(chan struct{})
	return len(p), nil
}

// await waits for a text.
func (b *logBuffer) await(t testing.TB, text string) {
	t.Helper()
	eventually(t, func() bool { return strings.Contains(b.String(), text) }, "it does not say "+text)
}

// String returns all that was logged.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// find returns the first line with that message and attributes, or a channel that is closed when more is logged.
func (b *logBuffer) find(message string, attributes []string) (map[string]any, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range bytes.Lines(b.text) {
		var fields map[string]any
		if json.Unmarshal(line, &fields) != nil || fields["msg"] != message {
			continue
		}
		matches := true
		for i := 0; i+1 < len(attributes); i += 2 {
			matches = matches && fields[attributes[i]] == attributes[i+1]
		}
		if matches {
			return fields, nil
		}
	}
	return nil, b.grown
}

// sharedWorld is the database of sharedServer.
var sharedWorld graphtest.Shared

var shared struct {
	once   sync.Once
	server *testServer
}

// sharedServer returns the server of all tests that do not need a separate one. It has no limits and the defaults of all other
// settings. Each test makes its own agents there, with unique handles and words, and stops nothing.
func sharedServer(t testing.TB) *testServer {
	t.Helper()
	w := sharedWorld.World(t)
	shared.once.Do(func() {
		theProgram.TB = t
		shared.server = startServer(&theProgram, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	})
	require.NotNil(t, shared.server, "the shared server has not started")
	s := *shared.server
	s.t = t
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the shared server:\n%s", s.log)
		}
	})
	return &s
}

// theProgram is the whole test program as a testing.TB: its cleanups run after the last test.
var theProgram lasting

type lasting struct {
	testing.TB

	cleanups []func()
}

func (l *lasting) Cleanup(clean func())     { l.cleanups = append(l.cleanups, clean) }
func (l *lasting) Context() context.Context { return context.Background() }
func (l *lasting) Failed() bool             { return false }

func (l *lasting) TempDir() string {
	folder := graphtest.Got(os.MkdirTemp("", "stoa-shared-"))(l.TB)
	l.Cleanup(func() { _ = os.RemoveAll(folder) }) // the system clears its temporary files, too
	return folder
}

func (l *lasting) end() {
	for _, clean := range slices.Backward(l.cleanups) {
		clean()
	}
}
