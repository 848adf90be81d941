package graphtest

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Outage takes the world's database away: connections end and new ones are refused, until the returned function is called.
func (w *World) Outage() (restore func()) {
	restore = w.RefuseConnections()
	run(w.t, databases.session, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", w.name)
	return restore
}

// RefuseConnections has the world's database refuse new connections, until the returned function is called; open ones stay.
func (w *World) RefuseConnections() (restore func()) {
	allow := func(yes bool) {
		run(w.t, databases.session, fmt.Sprintf("ALTER DATABASE %q ALLOW_CONNECTIONS %t", w.name, yes))
	}
	allow(false)
	return func() { allow(true) }
}

var ports atomic.Int32

// Address returns an address on which nothing else listens, also while the test does not: each process of the machine has an IP
// address in 127.64.0.0/10, and each call returns another port.
func Address() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:%d", 64+pid>>16, pid>>8&255, pid&255, 7000+ports.Add(1))
}

// DatabaseProxy forwards connections to a database. Its methods may be called from the test's goroutine only.
type DatabaseProxy struct {
	// URL is the URL of the same database through the proxy.
	URL string
	// While Hung is set the proxy accepts everything and forwards no answer, like a server that is stopped or disconnected.
	Hung atomic.Bool

	t                        testing.TB
	network, target, address string
	listener                 net.Listener
	torn                     atomic.Bool

	mu          sync.Mutex
	connections []proxied
}

// proxied is a connection to the client (near) and its connection to the database (far).
type proxied struct{ near, far net.Conn }

// NewDatabaseProxy returns an open proxy to the database of a URL.
func NewDatabaseProxy(t testing.TB, address string) *DatabaseProxy {
	t.Helper()
	parsed := Got(url.Parse(address))(t)
	p := &DatabaseProxy{t: t, network: "tcp", target: parsed.Host, address: Address()}
	query := parsed.Query()
	if folder := query.Get("host"); folder != "" {
		p.network, p.target = "unix", filepath.Join(folder, ".s.PGSQL."+query.Get("port"))
	}
	p.Open()
	parsed.Host, parsed.RawQuery = p.address, "sslmode=disable"
	p.URL = parsed.String()
	t.Cleanup(p.Cut)
	return p
}

// Open accepts connections again after Cut.
func (p *DatabaseProxy) Open() {
	listener := Got(net.Listen("tcp", p.address))(p.t)
	p.listener = listener
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			p.forward(near)
		}
	}()
}

func (p *DatabaseProxy) forward(near net.Conn) {
	far, err := net.Dial(p.network, p.target)
	if err != nil {
		_ = near.Close()
		return
	}
	p.mu.Lock()
	p.connections = append(p.connections, proxied{near, far})
	p.mu.Unlock()
	forward := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // ends when either side does
		if !p.torn.Load() {
			_ = to.Close()
		}
	}
	go forward(far, near)
	go forward(hangable{near, p}, far)
}

// Cut ends all connections and accepts no others.
func (p *DatabaseProxy) Cut() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.connections {
		_, _ = c.near.Close(), c.far.Close()
	}
	p.connections = nil
}

// Tear resets all connections on the client's side. The database notices neither that nor any later end until Cut.
func (p *DatabaseProxy) Tear() {
	p.torn.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.connections {
		_, _ = c.near.(*net.TCPConn).SetLinger(0), c.near.Close()
	}
}

// hangable is the client's side of a connection. Nothing is written to it while the proxy is Hung.
type hangable struct {
	net.Conn

	proxy *DatabaseProxy
}

func (h hangable) Write(b []byte) (int, error) {
	if h.proxy.Hung.Load() {
		return len(b), nil // swallowed
	}
	return h.Conn.Write(b)
}
