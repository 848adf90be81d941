package testbed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/child"
)

const (
	// operatorToken is the token for the operator listeners.
	operatorToken = "the-operator-token-of-a-proof-of-stoa"
	// readyTimeout is how long a server may take to answer whether it is ready: on a busy machine a ready server answers late.
	readyTimeout = 10 * time.Second
	// clockVariable names the file with the clock's offset, which a server with a settable clock (.ci/clocks) reads.
	clockVariable = "CLOCK_OFFSET_FILE"
)

// Server is one process of the service. Its addresses stay the same over restarts.
type Server struct {
	// Name is the server's name in the load balancer.
	Name string
	// Address and Operator are its listeners.
	Address, Operator string
	// Network lies between it and the database.
	Network *Network

	service

	bed *Bed
	log *os.File
	// clock holds the seconds by which the server's clock is ahead, if clocks can be set.
	clock *os.File
	// older: it runs the older version. service's mutex guards it.
	older bool
}

func (b *Bed) newServer(number int) (s *Server, err error) {
	s = &Server{Name: "server-" + strconv.Itoa(number), bed: b, older: b.Older != ""}
	s.launch = s.serve
	if s.Address, err = child.FreeAddress(); err != nil {
		return nil, err
	}
	if s.Operator, err = child.FreeAddress(); err != nil {
		return nil, err
	}
	if s.log, err = newLog(b.Folder, s.Name); err != nil {
		return nil, err
	}
	if b.Clocks {
		if s.clock, err = os.Create(filepath.Join(b.Folder, s.Name+".clock")); err != nil {
			return nil, err
		}
		if err := s.SetClock(0); err != nil {
			return nil, err
		}
	}
	s.Network, err = newNetwork(s.Name, b.databases())
	return s, err
}

func (s *Server) serve(ctx context.Context) (*child.Process, error) {
	program := s.bed.Program
	if s.older {
		program = s.bed.Older
	}
	parameters := "sslmode=disable"
	if s.bed.Failover {
		parameters += primaryOnly
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), program, "serve")
	command.Env = append(os.Environ(),
		"STOA_DATABASE_URL=postgres://stoa@"+strings.Join(s.Network.Addresses, ",")+"/stoa?"+parameters, "STOA_DATA_DIR="+s.bed.Data(),
		"STOA_LISTEN="+s.Address, "STOA_OPERATOR_LISTEN="+s.Operator, "STOA_OPERATOR_TOKEN="+operatorToken,
		"STOA_TRUSTED_PROXIES=127.0.0.1/32", "STOA_LOG_FORMAT=json", "STOA_LOG_LEVEL=info")
	if s.clock != nil {
		command.Env = append(command.Env, clockVariable+"="+s.clock.Name())
	}
	command.Env = append(command.Env, s.bed.Environment...)
	return child.Start(ctx, command, s.log, func(line []byte) bool {
		_, _, ok := child.Serving(line)
		return ok
	})
}

// ChangeVersion ends the process gracefully and starts its other version, which it returns: older or newer.
func (s *Server) ChangeVersion(ctx context.Context) (version string, err error) {
	s.mu.Lock()
	s.older = !s.older // also for another fault that starts it meanwhile
	if version = "newer"; s.older {
		version = "older"
	}
	s.mu.Unlock()
	s.Stop()
	return version, s.Start(ctx)
}

// Inspectors returns the process ids of the children that inspect files.
func (s *Server) Inspectors() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	return child.ChildrenOf(s.process.PID)
}

// Ready reports whether the process answers /readyz with 200.
func (s *Server) Ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	_, _, err := ask(ctx, http.MethodGet, "http://"+s.Address+"/readyz", "", nil)
	return err == nil
}

// Metrics returns the sum of each metric of /metrics over its labels, by name.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	_, text, err := ask(ctx, http.MethodGet, "http://"+s.Operator+"/metrics", operatorToken, nil)
	sums := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		end := strings.LastIndexByte(line, ' ')
		if figure, err := strconv.ParseFloat(line[end+1:], 64); err == nil && end > 0 && line[0] != '#' {
			name, _, _ := strings.Cut(line[:end], "{")
			sums[name] += figure
		}
	}
	return sums, err
}

// SetClock sets the wall clock of the server, which the database does not share.
func (s *Server) SetClock(ahead time.Duration) error {
	_, err := s.clock.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(ahead.Seconds()))), 0)
	return err
}

// ErrClock is the error of a server that shows another clock than the one that was set.
var ErrClock = errors.New("its clock is off, so it may not be built by .ci/clocks")

// CheckClock checks that the server shows the clock that was set. It returns ErrClock if the server shows another one.
func (s *Server) CheckClock(ctx context.Context, ahead time.Duration) error {
	header, _, err := ask(ctx, http.MethodGet, "http://"+s.Address+"/healthz", "", nil)
	if err != nil {
		return err
	}
	told, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return err
	}
	if off := time.Until(told) - ahead; off.Abs() > time.Minute {
		return fmt.Errorf("%s: %w: %s", s.Name, ErrClock, off)
	}
	return nil
}

// ask makes a request whose answer must be 200.
func ask(ctx context.Context, method, url, token string, body []byte) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return response.Header, text, err
}
