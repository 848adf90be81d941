package deadline

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Conn is a connection that a Listener accepted.
type Conn struct {
	*net.TCPConn

	listener *Listener
	// mu guards the limits.
	mu          sync.Mutex
	read, write limit
}

// limit is one of a connection's two deadlines. It is small, since a server may hold thousands of idle connections.
type limit struct {
	// at is the deadline, counted from the beginning; 0 for none.
	at time.Duration
	// over says that the connection has been told: everything fails until the deadline is moved.
	over bool
}

// beginning is when the process began, give or take; times are counted from there, on the monotonic clock.
var beginning = time.Now()

// farthest is how far ahead a deadline may lie: a century and more.
const farthest = time.Duration(1 << 62)

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// Close closes the connection.
func (c *Conn) Close() error {
	c.listener.forget(c)
	return c.TCPConn.Close()
}

// SetReadDeadline bounds the reads that wait now and those to come; the zero time takes the bound away.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.move(&c.read, t) }

// SetWriteDeadline is SetReadDeadline of writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.move(&c.write, t) }

// SetDeadline is both.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *Conn) move(l *limit, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.at = 0
	if t.IsZero() {
		return c.tell(l, false)
	}
	now := time.Now()
	if !t.After(now) {
		return c.tell(l, true)
	}
	l.at = now.Sub(beginning) + min(t.Sub(now), farthest)
	return c.tell(l, false)
}

// end tells the connection of deadlines that have passed.
func (c *Conn) end(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range []*limit{&c.read, &c.write} {
		if l.at != 0 && l.at <= now.Sub(beginning) {
			_ = c.tell(l, true) // it fails on a connection that is closed, on which nothing waits
		}
	}
}

// tell tells the connection whether a deadline is over, unless it knows.
func (c *Conn) tell(l *limit, over bool) error {
	if over == l.over && !over {
		return nil
	}
	l.over = over
	t := time.Time{}
	if over {
		l.at, t = 0, past
	}
	if l == &c.read {
		return c.TCPConn.SetReadDeadline(t)
	}
	return c.TCPConn.SetWriteDeadline(t)
}
