package graphtest

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"
)

// Outage takes the world's database away: connections end and new ones are refused, until the returned function is called.
func (w *World) Outage() (restore func()) {
	w.t.Helper()
	return w.refuseConnections("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1")
}

// RefuseConnections has the world's database refuse new connections, until the returned function is called; those that are open stay.
func (w *World) RefuseConnections() (restore func()) {
	w.t.Helper()
	return w.refuseConnections("")
}

func (w *World) refuseConnections(then string) (restore func()) {
	w.t.Helper()
	address, err := url.Parse(w.URL)
	require.NoError(w.t, err)
	name := address.Path[1:]
	server, err := sql.Open("postgres", os.Getenv("STOA_TEST_DATABASE_URL"))
	require.NoError(w.t, err)
	run := func(query string, args ...any) {
		_, err := server.Exec(query, args...)
		require.NoError(w.t, err)
	}
	run(`ALTER DATABASE "` + name + `" ALLOW_CONNECTIONS false`)
	if then != "" {
		run(then, name)
	}
	return func() {
		run(`ALTER DATABASE "` + name + `" ALLOW_CONNECTIONS true`)
		require.NoError(w.t, server.Close())
	}
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

	t                        TB
	network, target, address string
	listener                 net.Listener
	torn                     atomic.Bool

	mu          sync.Mutex
	connections []proxied
}

// proxied is a connection to the client (near) and its connection to the database (far).
type proxied struct{ near, far net.Conn }

// NewDatabaseProxy returns an open proxy to the database of a URL.
func NewDatabaseProxy(t TB, address string) *DatabaseProxy {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
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
	listener, err := net.Listen("tcp", p.address)
	require.NoError(p.t, err)
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
