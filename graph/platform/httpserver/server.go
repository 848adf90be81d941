// Package httpserver is the HTTP server of both listeners. It bounds what a client can occupy: connections, by client address and
// altogether; the time in which a header arrives; the rate at which a body arrives and an answer is taken. A request whose body is not
// read is answered at once and its connection closed. Requests that net/http itself refuses get the error body of §7.
//
// Handlers need not set deadlines. A body that does not arrive makes Read return a *fault.Error: request_timeout, invalid_input for a
// body that is cut off or malformed, service_unavailable while the server shuts down. A handler may take as long as it likes before and
// between its writes. One that sets deadlines of writes (http.ResponseController) or takes the connection over is left to them; the
// connection counts towards the limits until it is closed. A client that confirms no sent bytes for 75 s is cut off: one that has lost
// its network or its power never does.
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
	// Fresh is how long a connection that was just opened may take to send its request while the server shuts down.
	Fresh time.Duration
}

// DefaultTimeouts are those of a server in use. An ordinary JSON body is smaller than Body.Bytes, so it has Body.Time altogether.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: 10 * time.Second, Idle: 2 * time.Minute,
		Body: Pace{10 * time.Second, 160 << 10}, Answer: Pace{30 * time.Second, 480 << 10}, // both 16 KiB/s
		Drain: 50 * time.Millisecond, Fresh: 500 * time.Millisecond,
	}
}

const (
	// maxHeaderBytes is where net/http gives up reading a header; package rest refuses well below.
	maxHeaderBytes = 64 << 10
	// unconfirmed is how long a client may confirm nothing that it was sent.
	unconfirmed = 75 * time.Second
	// lingering is how long a client may still send after it has been answered early, at least lingeringBytes a second: many clients look
	// at an answer only when they have sent everything.
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
	// soon ends when bodies that have not arrived must not be waited for any longer.
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
	config.SetMultipathTCP(false) // its sockets do not know this option
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
	s.listener = newListener(inner, s)
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

// Address is the one that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Handle replaces the handler for the requests to come.
func (s *Server) Handle(handler http.Handler) { s.handler.Store(&handler) }

// Failed receives the error of a server that ended without Shutdown.
func (s *Server) Failed() <-chan error { return s.failed }

// ShutdownSoon makes every request body that has not arrived yet fail with service_unavailable, so that its sender still gets an answer.
func (s *Server) ShutdownSoon() { s.shutdownSoon() }

// Shutdown stops listening, waits for requests that are being handled, also on connections that have just been opened, and cuts
// off those that outlast ctx.
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
		s.fresh.Delete(c)
	}
}

// awaitFresh gives connections that were just opened the time to send their request, since http.Server.Shutdown drops the request of
// such a connection unanswered, and ends those that send none, since it would wait for them.
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
