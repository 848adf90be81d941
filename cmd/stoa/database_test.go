package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
	"stoa/rest"
)

// The driver finds all hosts of a URL; a URL with one host stays unchanged.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	for address, hosts := range map[string][]string{
		"postgres://stoa:p%2Cw@a:5433,b:5434/stoa?target_session_attrs=read-write&sslmode=disable": {"a:5433", "b:5434"},
		"postgresql://stoa@a,b:5433/stoa?target_session_attrs=read-write&sslmode=disable":          {"a:5432", "b:5433"},
		"postgres://[::1]:5433,[::2]/stoa?target_session_attrs=read-write&sslmode=disable":         {"[::1]:5433", "[::2]:5432"},
		"postgres://a:1,b:2?target_session_attrs=read-write&sslmode=disable":                       {"a:1", "b:2"},
	} {
		spread := spreadHosts(address)
		config, err := pq.NewConfig(spread)
		require.NoError(t, err, spread)
		require.Equal(t, hosts[0], net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), spread)
		require.Len(t, config.Multi, 1)
		require.Equal(t, hosts[1], net.JoinHostPort(config.Multi[0].Host, strconv.Itoa(int(config.Multi[0].Port))), spread)
		require.Equal(t, pq.TargetSessionAttrs("read-write"), config.TargetSessionAttrs)
		require.NotContains(t, redactURL(spread), "p%2Cw")
	}
	for _, address := range []string{
		"postgres://stoa@a:5433/stoa?sslmode=disable", "host=a,b port=1,2", "postgres://stoa:a,b@host/stoa", "", "postgres:///stoa?host=/tmp",
	} {
		require.Equal(t, address, spreadHosts(address))
	}
}

func requireEmptyFolder(t *testing.T, folder string) {
	t.Helper()
	require.Empty(t, graphtest.Got(os.ReadDir(folder))(t))
}

// Only serve makes a database. In a folder without one every other command that needs it fails with the cause, and makes no
// files.
func TestOnlyServeMakesADatabase(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"backup"}, {"backup", "make"}, {"backup", "make", "--with-key"}, {"backup", "list"}, {"backup", "verify"},
		{"backup", "restore"}, {"backup", "restore", "--replace", "--from=."}, {"migrate"}, {"migrate", "--plan"}, {"seed"},
		{"key"}, {"key", "accept"},
	} {
		folder := t.TempDir()
		code, out, stderr := runIn(t, folder, args)
		require.Empty(t, out, args)
		said := "stoa: there is no database in " + filepath.Join(folder, "data", "postgres")
		fails(t, exitFailure, said, "stoa serve make")(code, out, stderr)
		requireEmptyFolder(t, folder)
	}
	folder := t.TempDir()
	fails(t, exitUsage, "no token", "data/operator.token")(runIn(t, folder, []string{"operator", "settings"}))
	requireEmptyFolder(t, folder)
}

// A backup in another folder than the server's would lack the files.
func TestABackupNeedsTheFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database := "STOA_DATABASE_URL=" + graphtest.NewDatabase(t)
	for said, args := range map[string][]string{
		"there is no folder " + filepath.Join(folder, "data", "files"):                         {"backup"},
		"there are no backups: there is no folder " + filepath.Join(folder, "data", "backups"): {"backup", "list"},
	} {
		fails(t, exitFailure, said)(runIn(t, folder, args, database))
	}
	requireEmptyFolder(t, folder)
}

// A backup of an empty database reports that: a database without agents is still backed up, a database without tables is not.
func TestBackupOfAnEmptyDatabase(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, makeCluster(folder))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "files"), 0o700))
	data := "STOA_DATA_DIR=" + folder
	require.Contains(t, complaint(t, []string{"backup"}, data), "the database is empty: it has no tables")
	output(t, []string{"migrate"}, data)
	require.Contains(t, output(t, []string{"backup"}, data), "The database is empty: it holds no agent.")
	require.Regexp(t, `(?m)  no agents$`, output(t, []string{"backup", "list"}, data))
}

// No variable of the environment makes a restore delete, leave out or change anything.
func TestVariablesChangeNoRestore(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	data := migratedData(t)
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	own := "STOA_DATA_DIR=" + data
	output(t, []string{"backup"}, own)
	refused := complaint(t, []string{"backup", "restore"}, own, "STOA_REPLACE=true", "STOA_SKIP_DAMAGED=true", "STOA_WITH_KEY=true",
		"STOA_NEW_KEY=true", "STOA_FROM=/nonexistent")
	require.Contains(t, refused, "the database is not empty")
	require.Contains(t, output(t, []string{"migrate"}, own, "STOA_PLAN=true"), "is at the schema")
}

// If the database refuses new connections but serves open ones, the cause is named by readiness, log, overview, metric and alert,
// and the runbook has a page about it.
func TestRefusedConnectionsAreNamed(t *testing.T) {
	t.Parallel()
	w, log := graphtest.New(t), newLogBuffer()
	p := newProcess(new(settings), slog.New(slog.NewJSONHandler(log, nil)), nil)
	p.settings.DataDir, p.settings.Roles = t.TempDir(), []string{"api"}
	p.db, p.newConnections, p.metrics = w.DB, &db.NewConnections{DB: w.DB}, metrics.New("test")
	require.NoError(t, os.Mkdir(p.settings.filesFolder(), 0o700))
	checks := p.readinessChecks()
	for _, name := range []string{"migrations", "storage", "jobs"} {
		require.NoError(t, checks[name](t.Context()))
	}
	kept := make([]*sql.Conn, len(checks)) // each check that runs beside the others finds an open connection
	for i := range kept {
		kept[i] = graphtest.Got(w.DB.SQL.Pool.Conn(t.Context()))(t)
	}
	for _, conn := range kept {
		require.NoError(t, conn.Close())
	}
	defer w.RefuseConnections()()

	ready := httptest.NewRecorder()
	rest.New(rest.Config{Logger: p.log, Draining: &p.draining, Checks: checks}).
		ServeHTTP(ready, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	require.Equal(t, http.StatusServiceUnavailable, ready.Code)
	require.JSONEq(t, `{"status": "unavailable", "checks": {"database": "refuses_connections", "migrations": "ok", "jobs": "ok", "storage": "ok"}}`,
		ready.Body.String())
	require.Contains(t, log.String(), "not currently accepting connections")

	p.beat(t.Context(), w.Graph, uuid.Must(uuid.NewV7()), checks)
	overview := graphtest.Got(w.Operator.Overview(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})))(t)
	require.Equal(t, []string{newConnectionsCheck}, overview.Processes[0].Failing)
	require.Contains(t, overview.Attention, &operator.Attention{
		Kind: "refused_processes", Count: 1, Text: "process gets no new connections to the database and lives on those that it has.",
	})

	p.metrics.Checks(p.metricChecks())
	shown := httptest.NewRecorder()
	p.metrics.Handler().ServeHTTP(shown, httptest.NewRequestWithContext(t.Context(), http.MethodGet, metricsPath, http.NoBody))
	require.Contains(t, readFile(t, "../../docs/alerts.yml"),
		`expr: 'stoa_check_passing{check="new_connections"} == 0 and on (instance) stoa_check_passing{check="database"} == 1'`)
	for _, metric := range []string{`stoa_check_passing{check="new_connections"} 0`, `stoa_check_passing{check="database"} 1`} {
		require.Contains(t, shown.Body.String(), metric+"\n")
	}
	page := readFile(t, "../../docs/runbook/StoaConnectionsRefused.md")
	for _, name := range []string{"`database: refuses_connections`", `"` + newConnectionsCheck + `"`, "not currently accepting connections"} {
		require.Contains(t, page, name)
	}
}

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

// During an outage the server answers 503, and its metrics show the outage; afterwards it works again.
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
	require.Equal(t, "Nothing: the database is at the schema of this version.\n", // a command beside the server uses its database
		output(t, []string{"migrate", "--plan"}, "STOA_DATA_DIR="+s.data))
	killCluster(t, s.data)
	require.Equal(t, exitFailure, s.waitExit())
	require.Contains(t, s.log.String(), "signal: killed")
	require.NotContains(t, s.log.String(), ada.Token())
	again := startServer(t, "STOA_DATA_DIR="+s.data)
	require.NoError(t, ada.on(again).Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))
}

// A migration of a table in long use delays no client: it gives up its lock and tries again.
func TestTableInUseAtStart(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database := graphtest.Got(sql.Open("postgres", address))(t)
	defer database.Close()
	graphtest.OK(t)(database.ExecContext(t.Context(), "UPDATE function_files SET hash = ''"))
	use := graphtest.Got(database.BeginTx(t.Context(), nil))(t)
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

// makeCluster makes a private database without a schema, as if a server was killed before it migrated.
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
	require.NoError(t, syscall.Kill(graphtest.Got(strconv.Atoi(first))(t), syscall.SIGKILL))
}
