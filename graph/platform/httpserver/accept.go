package httpserver

import (
	"net"
	"net/netip"
	"slices"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/web"
)

// acceptor is the listener of a server: it accepts connections within the limits.
type acceptor struct{ server *Server }

// Addr implements net.Listener.
func (a acceptor) Addr() net.Addr { return a.server.listener.Addr() }

// Close implements net.Listener.
func (a acceptor) Close() error { return a.server.stopListening() }

// Accept implements net.Listener. A connection above a limit is answered with its fault and closed.
func (a acceptor) Accept() (net.Conn, error) {
	for {
		tcp, err := a.server.listener.AcceptTCP()
		if err != nil {
			return nil, err
		}
		c, limit := a.server.acquire(tcp)
		if limit == "" {
			return c, nil
		}
		a.server.Metrics.Limits.Refused(limit)
		refused := fault.New(fault.ServiceUnavailable)
		if limit == metrics.ConnectionsPerAddress {
			refused = fault.New(fault.RateLimited).Say("Too many connections from this address.")
		}
		_, _ = tcp.Write(plainAnswer(refused)) // it fits into the buffer of a new connection, so it does not wait
		_ = tcp.Close()
	}
}

// acquire counts a connection, or returns the limit that it is above.
func (s *Server) acquire(tcp *net.TCPConn) (c *conn, limit string) {
	c = &conn{TCPConn: tcp, server: s, client: s.clientOf(tcp), awaitsHeader: true}
	c.fresh.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Connections > 0 && len(s.open) >= s.Connections:
		return nil, metrics.Connections
	case s.ConnectionsPerAddress > 0 && c.client != "" && s.byClient[c.client] >= s.ConnectionsPerAddress:
		return nil, metrics.ConnectionsPerAddress
	}
	s.open[c] = struct{}{}
	if c.client != "" {
		s.byClient[c.client]++
	}
	return c, ""
}

// release stops counting a connection, once, however often it is closed.
func (s *Server) release(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[c]; !open {
		return
	}
	delete(s.open, c)
	if c.client == "" {
		return
	}
	if s.byClient[c.client]--; s.byClient[c.client] == 0 {
		delete(s.byClient, c.client)
	}
}

// clientOf is the client that a connection counts for; empty for a trusted proxy.
func (s *Server) clientOf(tcp *net.TCPConn) string {
	remote, ok := tcp.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	remoteAddress := remote.AddrPort().Addr().Unmap()
	if slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(remoteAddress) }) {
		return ""
	}
	return web.Subscriber(remoteAddress)
}
