// Package httpserver is the HTTP server of both listeners. It bounds a client's use of the server: connections, by client address
// and in total; the time in which a header arrives; the rate at which a body arrives and an answer is read. If the body is not
// read, the request is answered at once and its connection closed. Refusals by net/http itself get the error body of §7.
//
// Handlers need not set deadlines. A body that does not arrive makes Read return a *fault.Error: request_timeout, invalid_input
// for a body that is cut off or malformed, service_unavailable while the server shuts down. A handler may take any time before
// and between its writes. If it sets write deadlines (http.ResponseController) or takes over the connection, the server sets
// none; the connection counts towards the limits until it is closed. A client that acknowledges nothing for 75 s, for example
// after a loss of power, is disconnected.
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
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
)

// Config holds the limits of a server. The zero value of each limit switches it off.
type Config struct {
	Logger *slog.Logger
	// Metrics counts refused connections; nil counts nothing.
	Metrics *metrics.Metrics
	// Connections is how many connections may be open at once, ConnectionsPerAddress how many per address (IPv6: per /64).
	Connections, ConnectionsPerAddress int
	// TrustedProxies have no limit per address, since they speak for many clients.
	TrustedProxies []netip.Prefix
	// Draining, while true, makes every answer close its connection; nil means never.
	Draining *atomic.Bool
	// Timeouts replaces the default ones, for tests.
	Timeouts *Timeouts
}

// Timeouts bounds how long a client can make the server wait.
type Timeouts struct {
	// Header is how long a request's header may take, Idle how long a connection may wait for its next request.
	Header, Idle time.Duration
	// Body is the minimum rate of a request body, Answer of an answer.
	Body, Answer Pace
	// Drain is how long an answer waits for the rest of a small body that the handler has not read, to keep the connection.
	Drain time.Duration
	// Fresh is how long a connection that was just opened may take to send its request while the server shuts down.
	Fresh time.Duration
}

// DefaultTimeouts returns the timeouts of production. An ordinary JSON body is below Body.Bytes, so it has Body.Time in total.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: slack.Of(10 * time.Second), Idle: slack.Of(2 * time.Minute),
		Body: Pace{slack.Of(10 * time.Second), 160 << 10}, Answer: Pace{slack.Of(30 * time.Second), 480 << 10}, // both 16 KiB/s
		Drain: slack.Of(50 * time.Millisecond), Fresh: slack.Of(500 * time.Millisecond),
	}
}

const (
	// maxHeaderBytes is the size at which net/http stops reading a header; package rest has a much smaller limit.
	maxHeaderBytes = 64 << 10
	// unconfirmed is how long a client may leave sent bytes unacknowledged.
	unconfirmed = 75 * time.Second
	// lingering is how long a client may still send after an early answer, at least lingeringBytes a second, because many clients
	// read the answer only after they have sent everything.
	lingering      = 10 * time.Second
	lingeringBytes = 16 << 10
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	Config

	timeouts Timeouts
	http     *http.Server
	listener *listener
	handler  atomic.Pointer[http.Handler]
	failed   chan error
	closing  atomic.Bool
	// soon ends when the server must no longer wait for bodies.
	soon         context.Context //nolint:containedctx // it is the server's
	shutdownSoon context.CancelFunc
	// fresh are the connections on which no request has been read yet.
	fresh sync.Map
}

// Listen opens a TCP address and serves it until Shutdown.
func Listen(ctx context.Context, address string, handler http.Handler, c Config) (*Server, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) { // accepted connections inherit it
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unconfirmed.Milliseconds()))
		})
		return errors.Join(failed, err)
	}}
	config.SetMultipathTCP(false) // its sockets do not support this option
	inner, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	s := &Server{Config: c, timeouts: DefaultTimeouts(), failed: make(chan error, 1)}
	s.soon, s.shutdownSoon = context.WithCancel(context.Background())
	if c.Timeouts != nil {
		s.timeouts = *c.Timeouts
	}
	if s.Metrics == nil {
		s.Metrics = new(metrics.Metrics)
	}
	s.listener = &listener{Listener: inner, server: s, close: sync.OnceValue(inner.Close), open: make(map[string]int), refused: make(chan struct{}, 64)}
	s.Handle(handler)
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.timeouts.Header,
		IdleTimeout:       s.timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:         s.stateChanged,

		DisableGeneralOptionsHandler: true, // serve answers OPTIONS *
	}
	go func() {
		if err := s.http.Serve(s.listener); !s.closing.Load() {
			s.failed <- err
		}
	}()
	return s, nil
}

// Address returns the address that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Handle replaces the handler of later requests.
func (s *Server) Handle(handler http.Handler) { s.handler.Store(&handler) }

// Failed returns a channel with the error of a server that ended without Shutdown.
func (s *Server) Failed() <-chan error { return s.failed }

// ShutdownSoon makes request bodies that have not arrived fail with service_unavailable, so that their senders get an answer.
func (s *Server) ShutdownSoon() { s.shutdownSoon() }

// Shutdown stops listening, waits for running requests, also on connections that were just opened, and cuts off the requests that
// outlast ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Store(true)
	err := s.listener.Close()
	s.awaitFresh(ctx)
	if cut := s.http.Shutdown(ctx); cut != nil {
		return errors.Join(err, fmt.Errorf("requests were cut off: %w", cut), s.http.Close())
	}
	return err
}

// stateChanged implements http.Server.ConnState: a request has been read when its connection becomes active.
func (s *Server) stateChanged(changed net.Conn, state http.ConnState) {
	c, _ := changed.(*conn)
	switch state {
	case http.StateNew:
		s.fresh.Store(c, nil)
	case http.StateActive:
		c.serving = false
		s.fresh.Delete(c)
	case http.StateIdle, http.StateHijacked, http.StateClosed:
		c.hijacked = state == http.StateHijacked
		s.fresh.Delete(c)
	}
}

// awaitFresh gives connections that were just opened time to send their request, because http.Server.Shutdown drops it
// unanswered. It then closes the connections that sent none, because Shutdown would wait for them.
func (s *Server) awaitFresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Fresh)
	defer cancel()
	for waiting := true; waiting; {
		waiting = false
		ended := ctx.Err() != nil
		s.fresh.Range(func(found, _ any) bool {
			if c, ok := found.(*conn); ok && ended {
				_ = c.TCPConn.Close() // net/http notices, and closes it again
			}
			waiting = !ended
			return true
		})
		time.Sleep(5 * time.Millisecond)
	}
}
