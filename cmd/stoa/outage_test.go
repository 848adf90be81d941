package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/cmd/stoa/cluster"
	"stoa/graph/graphtest"
)

// databaseProxy forwards connections to a database and can be cut.
type databaseProxy struct {
	t       testing.TB
	url     string
	network string
	target  string

	listener net.Listener
	address  string

	mu          sync.Mutex
	connections []net.Conn
}

// newDatabaseProxy returns an open proxy to the database of a URL; its own URL is that of the same database.
func newDatabaseProxy(t testing.TB, address string) *databaseProxy {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	c := &databaseProxy{t: t, network: "tcp", target: parsed.Host}
	query := parsed.Query()
	if folder := query.Get("host"); folder != "" {
		c.network, c.target = "unix", filepath.Join(folder, ".s.PGSQL."+query.Get("port"))
	}
	c.address = "127.0.0.1:0"
	c.open()
	password, _ := parsed.User.Password()
	c.url = (&url.URL{Scheme: "postgres", User: url.UserPassword(parsed.User.Username(), password), Host: c.address,
		Path: parsed.Path, RawQuery: "sslmode=disable"}).String()
	t.Cleanup(c.cut)
	return c
}

func (c *databaseProxy) open() {
	near, err := new(net.ListenConfig).Listen(c.t.Context(), "tcp", c.address)
	require.NoError(c.t, err)
	c.listener, c.address = near, near.Addr().String()
	go func() {
		for {
			conn, err := near.Accept()
			if err != nil {
				return
			}
			c.forward(conn)
		}
	}()
}

func (c *databaseProxy) forward(near net.Conn) {
	far, err := net.Dial(c.network, c.target)
	if err != nil {
		_ = near.Close()
		return
	}
	c.mu.Lock()
	c.connections = append(c.connections, near, far)
	c.mu.Unlock()
	forward := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // ends when either side does
		_ = to.Close()
	}
	go forward(far, near)
	go forward(near, far)
}

func (c *databaseProxy) cut() {
	_ = c.listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.connections {
		_ = conn.Close()
	}
	c.connections = nil
}

// requireUnavailable checks what a server without its database answers.
func requireUnavailable(t *testing.T, s *testServer, who *agent.Agent) {
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

func requireAvailable(t *testing.T, s *testServer, who *agent.Agent) {
	t.Helper()
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusOK }, "not ready again")
	require.NoError(t, who.Get(t.Context(), "/bots/me", new(any)))
}

func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	c := newDatabaseProxy(t, graphtest.NewDatabase(t))
	s := startServer(t, "STOA_DATABASE_URL="+c.url)
	ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
	require.NoError(t, err)
	ben, err := agent.Register(t.Context(), s.client(), "Ben", "ben")
	require.NoError(t, err)
	cora, err := agent.Register(t.Context(), s.client(), "Cora", "cora")
	require.NoError(t, err)
	require.NoError(t, ada.Connect(t.Context()))
	require.NoError(t, cora.Befriend(t.Context(), ada))
	require.NoError(t, ada.Events.Take("contact.requested", new(any)), "admission comes after the handshake")

	c.cut()
	requireUnavailable(t, s, ada)
	require.NoError(t, ben.Connect(t.Context()))
	require.NoError(t, ben.Events.ClosedWith(1013))

	c.open()
	requireAvailable(t, s, ada)
	eventually(t, func() bool { return ben.Connect(t.Context()) == nil && ben.Befriend(t.Context(), ada) == nil }, "no friendship")
	require.NoError(t, ada.Events.Take("contact.requested", new(any)), "the socket outlives the outage")
	require.NotContains(t, s.log.String(), ada.Token)
}

// A server that starts before its database waits for it.
func TestDatabaseOutageAtStart(t *testing.T) {
	t.Parallel()
	c := newDatabaseProxy(t, graphtest.NewDatabase(t))
	c.cut()
	s := launchServer(t, "STOA_DATABASE_URL="+c.url)
	require.NotContains(t, s.waitForLog("waiting for the database")["database"], "pgtdb")
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	away := s.get("/api/v1/bots/me")
	require.Equal(t, "service_unavailable", away.code())
	require.NotEmpty(t, away.header.Get("Retry-After"))

	c.open()
	s.waitForLog("serving")
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
	require.Equal(t, "unauthorized", s.get("/api/v1/bots/me").code())

	c.cut()
	early := launchServer(t, "STOA_DATABASE_URL="+c.url)
	early.waitForLog("waiting for the database")
	early.signal(syscall.SIGTERM)
	require.Zero(t, early.waitExit())
}

// A server whose migration needs a table in long use delays no client: it gives way and tries again.
func TestTableInUseAtStart(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database, err := sql.Open("postgres", address)
	require.NoError(t, err)
	defer database.Close()
	_, err = database.ExecContext(t.Context(), "UPDATE function_files SET hash = ''")
	require.NoError(t, err)
	use, err := database.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = use.ExecContext(t.Context(), "LOCK TABLE ledger_entries IN ROW EXCLUSIVE MODE")
	require.NoError(t, err)

	s := launchServer(t, "STOA_DATABASE_URL="+address)
	require.Contains(t, s.waitForLog("waiting for the database")["error"], "lock timeout")
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	require.NoError(t, use.Rollback())
	s.waitForLog("serving")
}

// The private cluster is started again when it dies.
func TestPrivateClusterKilled(t *testing.T) {
	t.Parallel()
	s := startServer(t, append(noLimits, "STOA_DATA_DIR="+migratedData(t))...)
	ada := register(t, s)
	killCluster(t, s.data)
	var got agent.Answer
	var err error
	eventually(t, func() bool {
		got, err = s.client().Send(t.Context(), http.MethodGet, "/bots/me", ada.Token, nil)
		return err != nil || got.Refused(http.StatusServiceUnavailable, "service_unavailable") != nil
	}, "the database does not come back")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
	s.waitForLog("database ended unexpectedly, starting it again")
}

// migratedData returns a copy of a data folder whose private database has the current schema.
func migratedData(t testing.TB) string {
	t.Helper()
	template, err := migratedTemplate()
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "data")
	out, err := exec.CommandContext(t.Context(), "cp", "-a", template, folder).CombinedOutput() // files keep their owner
	require.NoError(t, err, "%s", out)
	return folder
}

// templateFolder holds the folder that migratedData copies. TestMain removes it.
var templateFolder string

var migratedTemplate = sync.OnceValues(func() (string, error) {
	var err error
	if templateFolder, err = os.MkdirTemp("", "stoa-template-"); err != nil {
		return "", err
	}
	folder := filepath.Join(templateFolder, "data")
	if err := makeCluster(folder); err != nil {
		return "", err
	}
	if out, err := exec.Command(testProgram, "migrate", "--data-dir="+folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
})

// makeCluster makes a private database without a schema, as a server does that is killed before it migrates.
func makeCluster(folder string) error {
	made, err := cluster.Start(context.Background(), cluster.Config{DataDir: folder, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return made.Stop(context.Background())
}

// killCluster kills the private database of a data folder.
func killCluster(t testing.TB, data string) {
	t.Helper()
	record, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(record), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
