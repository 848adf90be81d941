package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"stoa/cmd/stoa/deadline"
)

const (
	headerTimeout = 10 * time.Second
	// writeTimeout bounds a whole request, a body that arrives slowly included. Event sockets are exempt.
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	// maxHeaderBytes is where the HTTP server itself gives up; rest refuses well below, with an error body.
	maxHeaderBytes = 64 << 10
)

// listener is an HTTP server whose handler can be replaced while it runs.
type listener struct {
	*http.Server
	handler atomic.Pointer[http.Handler]
	// failed tells why the server ended although nobody stopped it.
	failed chan error
}

// listen opens an address and serves it; what says in the log which of the listeners it is. While the process shuts down, every
// answer ends its connection.
func (p *process) listen(ctx context.Context, what, address string, first http.Handler) (*listener, error) {
	open, err := deadline.Listen(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	l := &listener{failed: make(chan error, 1)}
	l.serve(first)
	l.Server = &http.Server{
		Addr: open.Addr().String(),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.draining.Load() {
				w.Header().Set("Connection", "close")
			}
			(*l.handler.Load()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	p.log.Info("listening", "what", what, "address", l.Addr)
	go func() {
		if err := l.Serve(open); !errors.Is(err, http.ErrServerClosed) {
			l.failed <- err
		}
	}()
	return l, nil
}

// serve replaces the handler for the requests to come.
func (l *listener) serve(handler http.Handler) { l.handler.Store(&handler) }

// finish waits for the requests in hand; those that outlast ctx are cut off.
func (l *listener) finish(ctx context.Context) error {
	if err := l.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off: %w", err), l.Close())
	}
	return nil
}
