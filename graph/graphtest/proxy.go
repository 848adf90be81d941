package graphtest

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"
)

// DatabaseProxy forwards connections to a database. Its methods may be called from the test's goroutine only.
type DatabaseProxy struct {
	// URL is that of the same database through the proxy.
	URL string

	t                        TB
	network, target, address string
	listener                 net.Listener
	torn                     atomic.Bool

	mu          sync.Mutex
	connections []proxied
}

// proxied is a connection on the side of the client and on that of the database.
type proxied struct{ near, far net.Conn }

// NewDatabaseProxy returns an open proxy to the database of a URL.
func NewDatabaseProxy(t TB, address string) *DatabaseProxy {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	p := &DatabaseProxy{t: t, network: "tcp", target: parsed.Host, address: "127.0.0.1:0"}
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
	p.listener, p.address = listener, listener.Addr().String()
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
	go forward(near, far)
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

// Tear resets all connections on the side of the client. The database sees nothing of that, nor of any later end, until Cut.
func (p *DatabaseProxy) Tear() {
	p.torn.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.connections {
		_, _ = c.near.(*net.TCPConn).SetLinger(0), c.near.Close()
	}
}
