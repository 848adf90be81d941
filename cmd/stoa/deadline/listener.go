// Package deadline keeps the deadlines of a listener's connections without a timer for each.
//
// An HTTP server moves the deadlines of a connection several times a request. Whenever that starts a timer, the runtime may wake
// another thread to wait for it, and on a machine of two cores that thread takes a twentieth of the time of a request that is alone
// on its connection. Here a deadline is a number that a sweep looks at twice a second: what waits beyond it fails as it would
// otherwise, up to a Lateness later, and never earlier. A deadline in the past takes effect at once.
//
// A Listener and its connections are safe for concurrent use. The sweep ends when the listener is closed and its last connection
// too.
package deadline

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Lateness is the most that a deadline may take effect late.
const Lateness = time.Second

// Listener accepts connections that keep their deadlines in this way.
type Listener struct {
	net.Listener

	mu     sync.Mutex
	open   map[*Conn]struct{}
	closed bool
}

// Listen listens on a TCP address.
func Listen(ctx context.Context, address string) (*Listener, error) {
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &Listener{Listener: inner, open: make(map[*Conn]struct{})}
	go l.run()
	return l, nil
}

// Accept waits for the next connection, a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := inner.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("deadline: %T is no TCP connection", inner)
	}
	c := &Conn{TCPConn: tcp, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c, nil
}

// Close stops listening; connections go on.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.Listener.Close()
}

func (l *Listener) run() {
	const half = Lateness / 2 // the sweep takes time as well
	ticks := time.NewTicker(half)
	defer ticks.Stop()
	for now := range ticks.C {
		if !l.sweep(now) {
			return
		}
	}
}

// sweep ends what has waited too long; false says that there is nothing more to come.
func (l *Listener) sweep(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.end(now)
	}
	return !l.closed || len(l.open) > 0
}

func (l *Listener) forget(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}
