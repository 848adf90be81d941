// Package httpserver is the HTTP server of both listeners. It bounds what a client can occupy: connections, by client address and
// altogether; the time in which a header arrives; the rate at which a body arrives and an answer is taken. A request whose body is not
// read is answered at once and its connection closed. Requests that net/http itself refuses get the error body of §7.
//
// Handlers need not set deadlines. A body that does not arrive makes Read return a *fault.Error: request_timeout, invalid_input for a
// body that is cut off or malformed, service_unavailable while the server shuts down. A handler may take as long as it likes before and
// between its writes, so a long poll needs no special treatment. Handlers that take the connection over (http.Hijacker) set their
// own deadlines; the connection counts towards the limits until it is closed.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"stoa/graph/platform/metrics"
)

// Config holds the limits of a server. The zero value of each limit switches it off.
type Config struct {
	Logger *slog.Logger
	// Metrics counts refused connections; nil counts nothing.
	Metrics *metrics.Metrics
	// Connections is how many connections may be open at once, ConnectionsPerAddress how many of one client address (of IPv6 one /64).
	Connections, ConnectionsPerAddress int
	// TrustedProxies have no limit per address, since they speak for many clients.
	TrustedProxies []netip.Prefix
	// Draining makes every answer close its connection while it is set; nil for never.
	Draining *atomic.Bool
	// Timeouts replaces the default ones, for tests.
	Timeouts *Timeouts
}

// Timeouts bound what a client can make a server wait for.
type Timeouts struct {
	// Header bounds the time that a request's header may take, Idle how long a connection may wait for its next request.
	Header, Idle time.Duration
	// Body is the least rate of a request body, Answer that of an answer.
	Body, Answer Pace
	// Drain is how long an answer waits for the rest of a small body that the handler has not read, so that the connection can be kept.
	Drain time.Duration
	// Linger is how long a client may still send, at the rate of LingerPace, after it has been answered early: many clients look at an
	// answer only when they have sent everything.
	Linger     time.Duration
	LingerPace Pace
	// Fresh is how long a connection that was just opened may take to send its request while the server shuts down.
	Fresh time.Duration
}

// DefaultTimeouts are those of a server in use. An ordinary JSON body is smaller than Body.Bytes, so it has Body.Time altogether.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: 10 * time.Second, Idle: 2 * time.Minute,
		Body: Pace{10 * time.Second, 160 << 10}, Answer: Pace{30 * time.Second, 480 << 10}, // both 16 KiB/s
		Drain: 50 * time.Millisecond, Linger: 10 * time.Second, LingerPace: Pace{time.Second, 16 << 10},
		Fresh: 500 * time.Millisecond,
	}
}

// maxHeaderBytes is where net/http gives up reading a header; package rest refuses well below.
const maxHeaderBytes = 64 << 10

// Server is a running server. It is safe for concurrent use.
type Server struct {
	Config

	timeouts Timeouts
	http     *http.Server
	listener *net.TCPListener
	handler  atomic.Pointer[http.Handler]
	failed   chan error

	// stopListening closes the listener, once: net/http closes it too.
	stopListening        func() error
	closing, bodiesEnded atomic.Bool
	// mu guards what follows: the open connections and their number by client.
	mu       sync.Mutex
	open     map[*conn]struct{}
	byClient map[string]int
}

// Listen opens a TCP address and serves it until Shutdown.
func Listen(ctx context.Context, address string, handler http.Handler, c Config) (*Server, error) {
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	listener, ok := inner.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("listen on %s: %T is no TCP listener", address, inner), inner.Close())
	}
	s := &Server{
		Config: c, timeouts: DefaultTimeouts(), failed: make(chan error, 1),
		listener: listener, stopListening: sync.OnceValue(listener.Close),
		open: make(map[*conn]struct{}), byClient: make(map[string]int),
	}
	if c.Timeouts != nil {
		s.timeouts = *c.Timeouts
	}
	if s.Metrics == nil {
		s.Metrics = new(metrics.Metrics)
	}
	s.Metrics.Limits.Expect(metrics.Connections, metrics.ConnectionsPerAddress)
	s.Handle(handler)
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.timeouts.Header,
		ReadTimeout:       s.timeouts.Body.Time, // these two stand when a handler begins: see netHTTPDeadlineSuffices
		WriteTimeout:      s.timeouts.Answer.Time,
		IdleTimeout:       s.timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
		ConnContext:       withConn,
		ConnState:         stateChanged,

		DisableGeneralOptionsHandler: true, // serve answers OPTIONS *
	}
	go func() {
		if err := s.http.Serve(acceptor{s}); !s.closing.Load() {
			s.failed <- err
		}
	}()
	return s, nil
}

// Address is the one that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Handle replaces the handler for the requests to come.
func (s *Server) Handle(handler http.Handler) { s.handler.Store(&handler) }

// Failed receives the error of a server that ended without Shutdown.
func (s *Server) Failed() <-chan error { return s.failed }

// Hurry makes every request body that has not arrived yet fail with service_unavailable, so that its sender still gets an answer.
func (s *Server) Hurry() {
	s.bodiesEnded.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.interruptBody()
	}
}

// Shutdown stops listening, waits for requests that are being handled, also on connections that have just been opened, and cuts
// off those that outlast ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Store(true)
	err := s.stopListening()
	s.awaitFresh(ctx)
	if cut := s.http.Shutdown(ctx); cut != nil {
		return errors.Join(err, fmt.Errorf("requests were cut off: %w", cut), s.http.Close())
	}
	return err
}

// awaitFresh gives connections that were just opened the time to send their request, since http.Server.Shutdown drops the request of
// such a connection unanswered, and ends those that send none, since it would wait for them.
func (s *Server) awaitFresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Fresh)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		fresh := s.fresh()
		if len(fresh) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			for _, c := range fresh {
				_ = c.TCPConn.Close() // net/http notices, and closes it again
			}
			return
		}
	}
}

func (s *Server) fresh() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fresh []*conn
	for c := range s.open {
		if c.fresh.Load() {
			fresh = append(fresh, c)
		}
	}
	return fresh
}
