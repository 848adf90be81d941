package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/rest/resttest"
)

// program is the binary under test, built once.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	folder, err := os.MkdirTemp("", "stoa-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "stoa")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return resttest.Main(m, resttest.Mixed)
}

// patient is how long a test waits for what must come, on a busy machine.
const patient = time.Minute

// unlimited switches every limit off.
var unlimited = []string{
	"STOA_LIMIT_MUTATIONS_PER_MINUTE=0", "STOA_LIMIT_CONTACT_REQUESTS_PER_MINUTE=0", "STOA_LIMIT_MESSAGES_PER_MINUTE=0",
	"STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR=0", "STOA_LIMIT_REGISTRATIONS_PER_HOUR=0",
	"STOA_LIMIT_REQUESTS_PER_ADDRESS_PER_SECOND=0",
}

// command prepares the program with these settings and no others.
func command(t testing.TB, args []string, settings ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, settingPrefix+"_") })
	cmd.Env = append(cmd.Env, settings...)
	cmd.Dir = t.TempDir()
	return cmd
}

// outcome runs the program to its end.
func outcome(t testing.TB, args []string, settings ...string) (code int, out, complaints string) {
	t.Helper()
	cmd := command(t, args, settings...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	impatient := time.AfterFunc(patient, func() { _ = cmd.Process.Kill() })
	defer impatient.Stop()
	_ = cmd.Wait() // its exit code is what the caller wants
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// instance is a running `stoa serve`.
type instance struct {
	t    testing.TB
	cmd  *exec.Cmd
	data string
	// url and operator are the origins of its listeners.
	url, operator string
	log           *journal
	exited        chan struct{}
}

// launch starts a server on free ports, in a data folder of its own unless one is set, and waits until it listens. What is
// still running at the end of the test is stopped.
func launch(t testing.TB, settings ...string) *instance {
	t.Helper()
	s := &instance{t: t, data: t.TempDir(), log: newJournal(), exited: make(chan struct{})}
	all := append([]string{"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_LOG_LEVEL=debug", "STOA_DATA_DIR=" + s.data}, settings...)
	for _, setting := range settings {
		if folder, ok := strings.CutPrefix(setting, "STOA_DATA_DIR="); ok {
			s.data = folder
		}
	}
	s.cmd = command(t, []string{"serve"}, all...)
	s.cmd.Stderr = s.log
	require.NoError(t, s.cmd.Start())
	go func() {
		_ = s.cmd.Wait() // the exit code stays in the process state
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.wait()
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log)
		}
	})
	s.url = "http://" + s.said("listening", "what", "public")["address"].(string)
	s.operator = "http://" + s.said("listening", "what", "operator")["address"].(string)
	return s
}

// serve is launch, and waits until the server is ready.
func serve(t testing.TB, settings ...string) *instance {
	t.Helper()
	s := launch(t, settings...)
	s.said("serving")
	return s
}

// said waits for a line of the log with that message and attributes.
func (s *instance) said(message string, attributes ...string) map[string]any {
	s.t.Helper()
	deadline := time.After(patient)
	for {
		line, more := s.log.find(message, attributes)
		if line != nil {
			return line
		}
		select {
		case <-more:
		case <-s.exited:
			require.FailNow(s.t, "the server ended", "waiting for %q in\n%s", message, s.log)
		case <-deadline:
			require.FailNow(s.t, "the server did not say it", "waiting for %q in\n%s", message, s.log)
		}
	}
}

// wait returns the exit code.
func (s *instance) wait() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(patient):
		_ = s.cmd.Process.Kill()
		<-s.exited
		s.t.Error("the server had to be killed")
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *instance) signal(signal syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(signal))
}

// client is the server as agents see it.
func (s *instance) client() *agent.Server { return agent.NewServer(s.url) }

// get fetches a path from the public listener.
func (s *instance) get(path string) *answer {
	s.t.Helper()
	return s.fetch(s.url + path)
}

func (s *instance) fetch(address string) *answer {
	s.t.Helper()
	response, err := http.Get(address)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return &answer{response.StatusCode, response.Header, response.Close, raw}
}

type answer struct {
	status int
	header http.Header
	// closing says that the server ends the connection.
	closing bool
	raw     []byte
}

func (a *answer) code() string {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(a.raw, &body) // an answer that is not JSON has no code
	return body.Error.Code
}

// journal collects the lines of a JSON log.
type journal struct {
	mu    sync.Mutex
	text  []byte
	grown chan struct{}
}

func newJournal() *journal { return &journal{grown: make(chan struct{})} }

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, p...)
	close(j.grown)
	j.grown = make(chan struct{})
	return len(p), nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text)
}

// find returns the first line that says it, or a channel that is closed when there is more to look at.
func (j *journal) find(message string, attributes []string) (map[string]any, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range bytes.Lines(j.text) {
		var said map[string]any
		if json.Unmarshal(line, &said) != nil || said["msg"] != message {
			continue
		}
		matches := true
		for i := 0; i+1 < len(attributes); i += 2 {
			matches = matches && said[attributes[i]] == attributes[i+1]
		}
		if matches {
			return said, nil
		}
	}
	return nil, j.grown
}

// eventually waits for a state that other processes bring about.
func eventually(t testing.TB, condition func() bool, message string) {
	t.Helper()
	require.Eventually(t, condition, patient, 10*time.Millisecond, message)
}
