package httpserver

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/web"
)

// listener accepts connections within the limits of a server.
type listener struct {
	net.Listener

	server *Server
	// close closes the listener, once: net/http closes it too.
	close func() error
	// mu guards open, the number of open connections by client, with the total under everyone.
	mu   sync.Mutex
	open map[string]int
	// refused bounds how many refused connections linger at once.
	refused chan struct{}
}

// everyone stands for all clients.
const everyone = ""

func (l *listener) Close() error { return l.close() }

func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, _ := accepted.(*net.TCPConn)
		client := l.server.clientOf(tcp)
		limit, refused := l.count(client)
		if refused == nil {
			release := sync.OnceFunc(func() { l.add(client, -1) })
			return &conn{TCPConn: tcp, server: l.server, release: release}, nil
		}
		l.server.Metrics.Limits.Count(limit)
		_ = write(tcp, refused) // it fits into the buffer of a new connection, so it does not block
		select {
		case l.refused <- struct{}{}:
			go func() {
				(&conn{TCPConn: tcp, server: l.server}).linger()
				_ = tcp.Close()
				<-l.refused
			}()
		default: // too many: the client may not see the answer
			_ = tcp.Close()
		}
	}
}

// clientOf returns the client that a connection counts for; everyone for a trusted proxy.
func (s *Server) clientOf(tcp *net.TCPConn) string {
	remote, err := netip.ParseAddrPort(tcp.RemoteAddr().String())
	if err != nil || web.Trusts(s.TrustedProxies, remote.Addr()) {
		return everyone
	}
	return web.Subscriber(remote.Addr().Unmap())
}

// count counts a connection of a client, or returns the limit that it exceeds, with the fault. Only Accept calls it.
func (l *listener) count(client string) (limit string, refused *fault.Error) {
	l.mu.Lock()
	all, own := l.open[everyone], l.open[client]
	l.mu.Unlock()
	switch s := l.server; {
	case s.Connections > 0 && all >= s.Connections:
		return metrics.Connections, fault.New(fault.ServiceUnavailable)
	case s.ConnectionsPerAddress > 0 && client != everyone && own >= s.ConnectionsPerAddress:
		return metrics.ConnectionsPerAddress, fault.New(fault.RateLimited).Say("Too many connections from this address.")
	}
	l.add(client, 1)
	return "", nil
}

func (l *listener) add(client string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[everyone] += n
	if client == everyone {
		return
	}
	if l.open[client] += n; l.open[client] == 0 {
		delete(l.open, client)
	}
}

// write writes an answer without a request in one write: if a connection is closed with unread bytes, later parts may be lost.
func write(to io.Writer, refused *fault.Error) error {
	header := http.Header{"Content-Type": {web.JSONType}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	web.Headers(header, nil)
	web.ErrorHeaders(header, refused)
	body, err := web.ErrorJSON(refused)
	if err != nil {
		return err
	}
	answer := http.Response{
		StatusCode: refused.Status(), ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Close: true,
	}
	var whole bytes.Buffer
	if err := answer.Write(&whole); err != nil {
		return err
	}
	_, err = to.Write(whole.Bytes())
	return err
}

// conn is a connection that counts towards the limits until it is closed.
type conn struct {
	*net.TCPConn

	server  *Server
	release func()
	// serving reports that a handler has begun to answer the current request. Earlier writes are net/http's own refusals.
	serving bool
	// hijacked reports that a handler has taken over the connection.
	hijacked bool
	// pace is the pace of the current answer. timed reports that the handler sets deadlines instead.
	pace  progress
	timed bool
}

type connKey struct{}

// refusalOf returns the fault for a refusal by net/http itself.
func refusalOf(answer []byte) *fault.Error {
	switch {
	case bytes.HasPrefix(answer, []byte("HTTP/1.1 417 ")):
		return fault.New(fault.ExpectationFailed)
	case bytes.HasPrefix(answer, []byte("HTTP/1.1 431 ")):
		return fault.New(fault.HeaderFieldsTooLarge)
	}
	return fault.New(fault.InvalidInput).Say("This is not a valid HTTP/1.1 request.")
}

// Write implements net.Conn. A refusal by net/http itself is replaced by one that has the error body.
func (c *conn) Write(p []byte) (n int, err error) {
	switch {
	case !c.serving:
		err = write(c.TCPConn, refusalOf(p))
		c.linger()
		return len(p), err
	case c.timed:
		return c.TCPConn.Write(p)
	}
	for {
		piece := p[n:min(len(p), n+int(c.pace.Bytes))]
		written, err := c.pace.timed(c.TCPConn.SetWriteDeadline, func() (int, error) { return c.TCPConn.Write(piece) })
		n += written
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

func (c *conn) SetWriteDeadline(at time.Time) error {
	c.timed = true
	return c.TCPConn.SetWriteDeadline(at)
}

func (c *conn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// linger reads the rest of the client's bytes after a complete answer, because closing a connection with unread bytes may discard
// the answer. It first closes the server's side for writing.
func (c *conn) linger() {
	_ = c.CloseWrite() // the client may have gone
	for end := time.Now().Add(lingering); c.server.soon.Err() == nil && time.Now().Before(end); {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // the read shows that it is closed
		if _, err := io.CopyN(io.Discard, c.TCPConn, lingeringBytes); err != nil {
			return
		}
	}
}
