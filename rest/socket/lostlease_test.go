package socket_test

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/rest/socket"
)

// torn stands between a process and its database. It can lose the answers to all statements that run, while PostgreSQL sees nothing of that.
type torn struct {
	url string

	mu   sync.Mutex
	near []*net.TCPConn
}

func newTorn(t testing.TB, address string) *torn {
	t.Helper()
	direct, err := url.Parse(address)
	require.NoError(t, err)
	query := direct.Query()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	direct.Host, direct.RawQuery = listener.Addr().String(), "sslmode=disable"
	p := &torn{url: direct.String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port")))
			if err != nil {
				_ = near.Close()
				continue
			}
			t.Cleanup(func() { _ = far.Close() })
			p.mu.Lock()
			p.near = append(p.near, near.(*net.TCPConn))
			p.mu.Unlock()
			go func() { _, _ = io.Copy(far, near) }()
			go func() { _, _ = io.Copy(near, far) }()
		}
	}()
	return p
}

// tear resets all connections on the side of the process.
func (p *torn) tear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, near := range p.near {
		_, _ = near.SetLinger(0), near.Close()
	}
	p.near = nil
}

// The answer to a lease is lost, and the process gives the slot back before PostgreSQL makes the lease.
func TestASlotIsGivenBackWhoseLeaseComesLater(t *testing.T) {
	t.Parallel()
	const (
		locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7061006 AND database = " +
			"(SELECT oid FROM pg_database WHERE datname = current_database())"
		closed = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE '%stoa_close_sockets%'"
		leases = "SELECT count(*) FROM socket_leases"
	)
	h := newCluster(t)
	network := newTorn(t, h.URL)
	behind, err := db.Open(network.url, db.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = behind.SQL.Close() })
	p, agent := h.process(quotas(1, 0), func(c *socket.Config) { c.Graph.Events.DB = behind }), h.Agent()
	lock, err := h.DB.SQL.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = lock.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(7061006)")
	require.NoError(t, err)

	refused := make(chan int)
	go func() { refused <- p.dial(agent.Token).code() }()
	require.Eventually(t, func() bool { return h.Count(locks) == 2 }, patience, time.Millisecond)
	network.tear()
	require.Equal(t, 1013, <-refused)
	require.Eventually(t, func() bool { return h.Count(closed) > 0 }, patience, time.Millisecond)
	require.NoError(t, lock.Commit())
	require.Eventually(t, func() bool { return h.Count(locks) == 0 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return h.Count(leases) == 0 }, patience, 10*time.Millisecond)
	p.dial(agent.Token).quiet()
}
