package main

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/graph/graphtest"
)

// cable is a connection to the database that can be pulled out.
type cable struct {
	t       testing.TB
	url     string
	network string
	target  string

	near    net.Listener
	address string

	mu   sync.Mutex
	open []net.Conn
}

// newCable leads to the database of the URL; it is plugged in.
func newCable(t testing.TB, address string) *cable {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	c := &cable{t: t, network: "tcp", target: parsed.Host}
	query := parsed.Query()
	if folder := query.Get("host"); folder != "" {
		c.network, c.target = "unix", filepath.Join(folder, ".s.PGSQL."+query.Get("port"))
	}
	c.address = "127.0.0.1:0"
	c.plug()
	password, _ := parsed.User.Password()
	c.url = (&url.URL{Scheme: "postgres", User: url.UserPassword(parsed.User.Username(), password), Host: c.address,
		Path: parsed.Path, RawQuery: "sslmode=disable"}).String()
	t.Cleanup(c.pull)
	return c
}

func (c *cable) plug() {
	near, err := new(net.ListenConfig).Listen(c.t.Context(), "tcp", c.address)
	require.NoError(c.t, err)
	c.near, c.address = near, near.Addr().String()
	go func() {
		for {
			conn, err := near.Accept()
			if err != nil {
				return
			}
			c.join(conn)
		}
	}()
}

func (c *cable) join(near net.Conn) {
	far, err := net.Dial(c.network, c.target)
	if err != nil {
		_ = near.Close()
		return
	}
	c.mu.Lock()
	c.open = append(c.open, near, far)
	c.mu.Unlock()
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // ends when either side does
		_ = to.Close()
	}
	go carry(far, near)
	go carry(near, far)
}

func (c *cable) pull() {
	_ = c.near.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

// requireAway checks what a server without its database says.
func requireAway(t *testing.T, s *instance, who *agent.Agent) {
	t.Helper()
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	got, err := s.client().Send(t.Context(), http.MethodGet, "/bots/me", who.Token, nil)
	require.NoError(t, err)
	require.NoError(t, got.Refused(http.StatusServiceUnavailable, "service_unavailable"))
	wait, err := strconv.Atoi(got.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
}

func requireBack(t *testing.T, s *instance, who *agent.Agent) {
	t.Helper()
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusOK }, "not ready again")
	require.NoError(t, who.Get(t.Context(), "/bots/me", new(any)))
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	c := newCable(t, graphtest.NewDatabase(t))
	s := serve(t, "STOA_DATABASE_URL="+c.url)
	ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
	require.NoError(t, err)
	ben, err := agent.Register(t.Context(), s.client(), "Ben", "ben")
	require.NoError(t, err)
	require.NoError(t, ada.Connect(t.Context()))

	c.pull()
	requireAway(t, s, ada)
	require.NoError(t, ben.Connect(t.Context()))
	require.NoError(t, ben.Events.ClosedWith(1013))

	c.plug()
	requireBack(t, s, ada)
	eventually(t, func() bool { return ben.Connect(t.Context()) == nil && ben.Befriend(t.Context(), ada) == nil }, "no friendship")
	require.NoError(t, ada.Events.Take("contact.requested", new(any)), "the socket outlives the outage")
	require.NotContains(t, s.log.String(), ada.Token)
}

// A server that starts before its database waits for it.
func TestDatabaseAwayAtStart(t *testing.T) {
	t.Parallel()
	c := newCable(t, graphtest.NewDatabase(t))
	c.pull()
	s := launch(t, "STOA_DATABASE_URL="+c.url)
	require.NotContains(t, s.said("waiting for the database")["database"], "pgtdb")
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	away := s.get("/api/v1/bots/me")
	require.Equal(t, "service_unavailable", away.code())
	require.NotEmpty(t, away.header.Get("Retry-After"))

	c.plug()
	s.said("serving")
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
	require.Equal(t, "unauthorized", s.get("/api/v1/bots/me").code())

	c.pull()
	early := launch(t, "STOA_DATABASE_URL="+c.url)
	early.said("waiting for the database")
	early.signal(syscall.SIGTERM)
	require.Zero(t, early.wait())
}

// The private cluster is started again when it dies.
func TestPrivateClusterKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, unlimited...)
	ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
	require.NoError(t, err)
	killCluster(t, s.data)
	deadline := time.Now().Add(patient)
	for {
		got, err := s.client().Send(t.Context(), http.MethodGet, "/bots/me", ada.Token, nil)
		require.NoError(t, err)
		if got.Status == http.StatusOK {
			break
		}
		require.NoError(t, got.Refused(http.StatusServiceUnavailable, "service_unavailable"))
		require.True(t, time.Now().Before(deadline), "the database does not come back")
		time.Sleep(10 * time.Millisecond)
	}
	s.said("database ended unexpectedly, starting it again")
}

// killCluster ends the private database the way a crash does.
func killCluster(t testing.TB, data string) {
	t.Helper()
	record, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(record), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
