package httpserver

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// conn is a connection that counts towards the limits until it is closed.
type conn struct {
	*net.TCPConn

	server *Server
	// client is the address whose limit the connection counts towards, besides the limit of all; empty for a trusted proxy.
	client string
	// fresh says that no request has been read yet.
	fresh atomic.Bool
	// reading says that a request body is being read.
	reading atomic.Bool
	// handled says that a handler has begun to answer the present request. What is written before is net/http's own refusal. Only the
	// goroutine that serves the connection changes it.
	handled bool
	// awaitsHeader says that the header of the next request has not been read to its end, arrived how many bytes came behind that end in
	// the same read. Only the goroutine that serves the connection uses them.
	awaitsHeader bool
	arrived      int
}

type connKey struct{}

// withConn implements http.Server.ConnContext.
func withConn(ctx context.Context, accepted net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, accepted)
}

// stateChanged implements http.Server.ConnState: a request has been read when its connection becomes active.
func stateChanged(changed net.Conn, state http.ConnState) {
	c, ok := changed.(*conn)
	if ok && state == http.StateActive {
		c.handled = false
		if c.fresh.Load() {
			c.fresh.Store(false)
		}
	}
}

// endOfHeader ends a header. Where a client ends its lines otherwise, a body does not seem to have arrived.
var endOfHeader = []byte("\r\n\r\n")

// Read implements net.Conn. A read of one byte comes from the goroutine in which net/http waits for the client to leave.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if len(p) > 1 && c.awaitsHeader {
		if end := bytes.Index(p[:n], endOfHeader); end >= 0 {
			c.awaitsHeader, c.arrived = false, n-end-len(endOfHeader)
		}
	}
	return n, err
}

// BodyArrived says whether the whole body of a request of announced length came with its header, so that reading it does not wait for
// the client. It is asked before the body is read. Where the client asks for 100 Continue it is false, since reading would answer that.
func BodyArrived(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*conn)
	return ok && 0 < r.ContentLength && r.ContentLength <= int64(c.arrived) && r.Header.Get("Expect") == ""
}

// Write implements net.Conn. A refusal by net/http itself is replaced by one that has the error body.
func (c *conn) Write(p []byte) (int, error) {
	if c.handled {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(refusalOf(p)); err != nil {
		return 0, err
	}
	c.linger()
	return len(p), nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.server.release(c)
	return c.TCPConn.Close()
}

// interruptBody ends the read of a request body that is under way.
func (c *conn) interruptBody() {
	if c.reading.Load() {
		_ = c.SetReadDeadline(past) // a connection that is closed has nothing to interrupt
	}
}

// past is a deadline that takes effect at once.
var past = time.Unix(1, 0)

// linger reads on what the client of a complete answer still sends, because closing a connection that holds unread bytes may take
// the answer away from the client. It says first that nothing more will come.
func (c *conn) linger() {
	t := &c.server.timeouts
	_ = c.CloseWrite() // the client may have gone
	pace, end := progress{Pace: t.LingerPace}, time.Now().Add(t.Linger)
	scratch := make([]byte, 8<<10)
	for now := time.Now(); now.Before(end) && !c.server.bodiesEnded.Load(); {
		deadline := pace.deadline(now)
		if end.Before(deadline) {
			deadline = end
		}
		_ = c.SetReadDeadline(deadline)
		n, err := c.Read(scratch)
		if err != nil {
			return
		}
		after := time.Now()
		pace.add(n, after.Sub(now))
		now = after
	}
}
