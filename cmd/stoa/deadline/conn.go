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

	listener    *Listener
	read, write limit
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.listener.forget(c)
	return c.TCPConn.Close()
}

// SetReadDeadline bounds the reads that wait now and those to come; the zero time takes the bound away.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.read.move(t) }

// SetWriteDeadline is SetReadDeadline of writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.write.move(t) }

// SetDeadline is both.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// limit is one of a connection's two deadlines.
type limit struct {
	mu sync.Mutex
	// at is the deadline, zero for none.
	at time.Time
	// over says that the connection has been told: everything fails until the deadline is moved.
	over bool
	// set tells the connection.
	set func(time.Time) error
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

func (l *limit) move(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = t
	if !t.IsZero() && !t.After(time.Now()) {
		l.over = true
		return l.set(past)
	}
	if !l.over {
		return nil
	}
	l.over = false
	return l.set(time.Time{})
}

// end tells the connection of a deadline that has passed.
func (l *limit) end(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.at.IsZero() || l.at.After(now) {
		return
	}
	l.over = true
	_ = l.set(past) // it fails on a connection that is closed, on which nothing waits
}
