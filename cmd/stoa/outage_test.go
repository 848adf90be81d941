package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/graphtest"
)

// requireUnavailable checks the answers of a server without its database.
func requireUnavailable(t *testing.T, s *testServer, who *testAgent) {
	t.Helper()
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	_, err := who.Me(t.Context())
	require.Positive(t, requireRefused(t, err, http.StatusServiceUnavailable, "service_unavailable").RetryAfter)
}

func requireAvailable(t *testing.T, s *testServer, who *testAgent) {
	t.Helper()
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusOK }, "not ready again")
	require.NoError(t, who.Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))
}

// During an outage the server answers 503 and serves metrics that show it; afterwards everything goes on.
func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	c := graphtest.NewDatabaseProxy(t, graphtest.NewDatabase(t))
	s := startServer(t, "STOA_DATABASE_URL="+c.URL)
	ada := s.join("Ada", "ada")
	ben := s.join("Ben", "ben")
	cora := s.join("Cora", "cora")
	require.NoError(t, ada.connect(t.Context()))
	require.NoError(t, cora.meet(t.Context(), ada))
	ada.Events.take(t, "contact.requested") // admission comes after the handshake

	eventually(t, func() bool { return s.hasMetric("stoa_database_probe_failed 0") }, "no probe")
	c.Cut()
	requireUnavailable(t, s, ada)
	eventually(t, func() bool {
		return s.hasMetric("stoa_database_probe_failed 1") && s.hasMetric(`stoa_check_passing{check="database"} 0`)
	}, "the outage does not show")
	require.NotContains(t, s.metricTypes(), "stoa_outbox_events")
	require.NoError(t, ben.connect(t.Context()))
	ben.Events.closedWith(t, 1013)

	c.Open()
	requireAvailable(t, s, ada)
	eventually(t, func() bool {
		return s.hasMetric("stoa_database_probe_failed 0") && s.hasMetric(`stoa_check_passing{check="database"} 1`)
	}, "the end of the outage does not show")
	eventually(t, func() bool { return ben.connect(t.Context()) == nil && ben.meet(t.Context(), ada) == nil }, "no friendship")
	ada.Events.take(t, "contact.requested") // the socket outlives the outage
	require.NotContains(t, s.log.String(), ada.Token())
}

// A server that starts before its database waits for it.
func TestDatabaseOutageAtStart(t *testing.T) {
	t.Parallel()
	c := graphtest.NewDatabaseProxy(t, graphtest.NewDatabase(t))
	c.Cut()
	s := launchServer(t, "STOA_DATABASE_URL="+c.URL)
	require.NotContains(t, s.waitForLog("waiting for the database")["database"], "testpass77")
	require.Equal(t, http.StatusOK, s.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	require.Contains(t, s.metricTypes(), "stoa_build_info")
	away := s.get("/api/v1/bots/me")
	require.Equal(t, "service_unavailable", away.code())
	require.NotEmpty(t, away.header.Get("Retry-After"))

	c.Open()
	s.waitForLog("serving")
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
	require.Equal(t, "unauthorized", s.get("/api/v1/bots/me").code())

	c.Cut()
	early := launchServer(t, "STOA_DATABASE_URL="+c.URL)
	early.waitForLog("waiting for the database")
	early.stop()
}

// A server whose private database dies ends and names the reason. Its next start finds everything.
func TestPrivateDatabaseDies(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATA_DIR="+migratedData(t))
	ada := s.join("Ada", "ada")
	killCluster(t, s.data)
	require.Equal(t, exitFailure, s.waitExit())
	require.Contains(t, s.log.String(), "signal: killed")
	again := startServer(t, "STOA_DATA_DIR="+s.data)
	require.NoError(t, ada.on(again).Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))
}

// A server whose migration needs a table in long use delays no client: it gives way and tries again.
func TestTableInUseAtStart(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database := graphtest.Got(sql.Open("postgres", address))(t)
	defer database.Close()
	graphtest.OK(t)(database.ExecContext(t.Context(), "UPDATE function_files SET hash = ''"))
	use, err := database.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	graphtest.OK(t)(use.ExecContext(t.Context(), "LOCK TABLE ledger_entries IN ROW EXCLUSIVE MODE"))

	s := launchServer(t, "STOA_DATABASE_URL="+address)
	require.Contains(t, s.waitForLog("waiting for the database")["error"], "lock timeout")
	require.Equal(t, http.StatusServiceUnavailable, s.get("/readyz").status)
	require.NoError(t, use.Rollback())
	s.waitForLog("serving")
}

// migratedData returns a copy of a data folder whose private database has the current schema.
func migratedData(t testing.TB) string {
	t.Helper()
	template := graphtest.Got(migratedTemplate())(t)
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
	record := graphtest.Got(os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid")))(t)
	first, _, _ := strings.Cut(string(record), "\n")
	pid := graphtest.Got(strconv.Atoi(first))(t)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
