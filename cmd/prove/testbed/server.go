package testbed

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"stoa/cmd/child"
)

// operatorToken opens the operator listeners.
const operatorToken = "the-operator-token-of-a-proof-of-stoa"

// Server is one process of the service. Its addresses stay the same over restarts.
type Server struct {
	// Name is its name in the load balancer.
	Name string
	// Address and Operator are its listeners.
	Address, Operator string
	// Network lies between it and the database.
	Network *Network

	bed *Bed
	log *os.File
	// clock holds the seconds by which its clock is ahead, where clocks can be set.
	clock *os.File

	mu      sync.Mutex
	process *child.Process
	// older says that it runs the older version.
	older bool
}

func (b *Bed) newServer(number int) (s *Server, err error) {
	s = &Server{Name: "server-" + strconv.Itoa(number), bed: b, older: b.Older != ""}
	if s.Address, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.Operator, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.log, err = newLog(b.Folder, s.Name); err != nil {
		return nil, err
	}
	if b.Clocks {
		if s.clock, err = os.Create(filepath.Join(b.Folder, s.Name+".clock")); err != nil {
			return nil, err
		}
		if err := s.writeClock(0); err != nil {
			return nil, err
		}
	}
	s.Network, err = newNetwork(s.Name, b.databases())
	return s, err
}

// Start starts the process and waits until it serves; it does nothing if another fault has started it again. The process outlives
// ctx. Environment is added to the bed's.
func (s *Server) Start(ctx context.Context, environment ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		select {
		case <-s.process.Ended():
		default:
			return nil
		}
	}
	return s.start(ctx, environment...)
}

func (s *Server) start(ctx context.Context, environment ...string) error {
	program := s.bed.Program
	if s.older {
		program = s.bed.Older
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	database := "postgres://stoa@" + s.Network.String() + "/stoa?sslmode=disable"
	switch {
	case s.bed.Failover:
		database += primaryOnly
	case s.bed.TLS:
		database = "postgres://stoa@" + s.Network.String() + "/stoa?sslmode=require"
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), program, "serve")
	command.Env = append(os.Environ(),
		"STOA_DATABASE_URL="+database, "STOA_DATA_DIR="+s.bed.Data(),
		"STOA_LISTEN="+s.Address, "STOA_OPERATOR_LISTEN="+s.Operator, "STOA_OPERATOR_TOKEN="+operatorToken,
		"STOA_TRUSTED_PROXIES=127.0.0.1/32", "STOA_LOG_FORMAT=json", "STOA_LOG_LEVEL=info")
	if s.clock != nil {
		command.Env = append(command.Env, clockVariable+"="+s.clock.Name())
	}
	command.Env = append(append(command.Env, s.bed.Environment...), environment...)
	s.process, err = child.Start(ctx, command, s.log, func(line []byte) bool {
		_, _, ok := child.Serving(line)
		return ok
	})
	return err
}

// Kill ends the process with SIGKILL. A server that could not be started again has none.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Kill()
}

// Stop ends the process in order.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Stop()
}

// ChangeVersion ends the process in order and starts its other version, which it names: older or newer.
func (s *Server) ChangeVersion(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Stop()
	s.older = !s.older
	if s.older {
		return "older", s.start(ctx)
	}
	return "newer", s.start(ctx)
}

// Signal sends a signal to the process.
func (s *Server) Signal(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Signal(signal)
}

// Inspectors returns the process ids of the children that inspect files. Any thread of a server may have started one.
func (s *Server) Inspectors() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	return childrenOf(s.process.PID)
}

// readyTimeout is how long a server may take to say that it is ready: a busy machine is no reason to believe that it is not.
const readyTimeout = 10 * time.Second

// Ready reports whether the process answers /readyz with 200.
func (s *Server) Ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	status, _, err := get(ctx, "http://"+s.Address+"/readyz", "")
	return err == nil && status == http.StatusOK
}

// Metrics returns the sum of each metric of /metrics over its labels, by name.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	status, text, err := get(ctx, "http://"+s.Operator+"/metrics", operatorToken)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s: /metrics answers %d", s.Name, status)
	}
	sums := make(map[string]float64)
	for line := range bytes.Lines(text) {
		name, value, found := strings.Cut(strings.TrimSpace(string(line)), " ")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		name, _, _ = strings.Cut(name, "{")
		if i := strings.LastIndexByte(value, ' '); i >= 0 { // a label held a space
			value = value[i+1:]
		}
		if figure, err := strconv.ParseFloat(value, 64); err == nil {
			sums[name] += figure
		}
	}
	return sums, nil
}

func get(ctx context.Context, url, token string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}
