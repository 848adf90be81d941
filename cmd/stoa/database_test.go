package main

import (
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
	"stoa/rest"
)

// Both drivers find all hosts of a URL; a URL with one host stays unchanged.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	for address, hosts := range map[string][]string{
		"postgres://stoa:p%2Cw@a:5433,b:5434/stoa?target_session_attrs=read-write&sslmode=disable": {"a:5433", "b:5434"},
		"postgresql://stoa@a,b:5433/stoa?target_session_attrs=read-write&sslmode=disable":          {"a:5432", "b:5433"},
		"postgres://[::1]:5433,[::2]/stoa?target_session_attrs=read-write&sslmode=disable":         {"::1:5433", "::2:5432"},
		"postgres://a:1,b:2?target_session_attrs=read-write&sslmode=disable":                       {"a:1", "b:2"},
	} {
		spread := spreadHosts(address)
		config, err := pgconn.ParseConfig(spread)
		require.NoError(t, err, spread)
		require.Equal(t, hosts[0], config.Host+":"+strconv.Itoa(int(config.Port)), spread)
		require.Len(t, config.Fallbacks, 1)
		require.Equal(t, hosts[1], config.Fallbacks[0].Host+":"+strconv.Itoa(int(config.Fallbacks[0].Port)), spread)
		require.NotNil(t, config.ValidateConnect, "it looks for the primary")
		plain, err := pq.NewConfig(spread)
		require.NoError(t, err, spread)
		require.Len(t, plain.Multi, 1)
		require.Equal(t, pq.TargetSessionAttrs("read-write"), plain.TargetSessionAttrs)
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

// Only serve makes a database. In a folder without one every other command that needs it fails, says why, and leaves nothing
// there.
func TestOnlyServeMakesADatabase(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"backup"}, {"backup", "make"}, {"backup", "make", "--with-key"}, {"backup", "list"}, {"backup", "verify"},
		{"backup", "restore"}, {"backup", "restore", "--replace", "--from=."}, {"migrate"}, {"migrate", "--plan"}, {"seed"},
		{"key"}, {"key", "accept"},
	} {
		folder := t.TempDir()
		code, out, stderr := runIn(t, folder, args)
		require.Equal(t, exitFailure, code, args)
		require.Empty(t, out)
		require.Contains(t, stderr, "stoa: there is no database in "+filepath.Join(folder, "data", "postgres"), args)
		require.Contains(t, stderr, "stoa serve make")
		requireEmptyFolder(t, folder)
	}
	folder := t.TempDir()
	code, _, stderr := runIn(t, folder, []string{"operator", "settings"})
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "no token")
	require.Contains(t, stderr, "data/operator.token")
	requireEmptyFolder(t, folder)
}

// A backup in another folder than the server's would lack the files.
func TestABackupNeedsTheFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	code, _, stderr := runIn(t, folder, []string{"backup"}, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "there is no folder "+filepath.Join(folder, "data", "files"))
	requireEmptyFolder(t, folder)

	code, _, stderr = runIn(t, folder, []string{"backup", "list"}, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "there are no backups: there is no folder "+filepath.Join(folder, "data", "backups"))
	requireEmptyFolder(t, folder)
}

// A backup of an empty database says so: one without agents is made all the same, one without tables is not.
func TestBackupOfAnEmptyDatabase(t *testing.T) {
	nightly(t)
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
func TestVariablesDoNotArmARestore(t *testing.T) {
	nightly(t)
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

// If the database refuses new connections and serves the open ones, readiness, the log, the overview, the metric and the alert name that
// cause, and the runbook has a page about it.
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
	var alerts alertRules
	raw := graphtest.Got(os.ReadFile("../../docs/alerts.yml"))(t)
	require.NoError(t, yaml.Unmarshal(raw, &alerts))
	conditions := 0
	for _, rule := range alerts.Groups[0].Rules {
		if rule.Alert == "StoaConnectionsRefused" {
			for _, condition := range regexp.MustCompile(`(stoa_check_passing\{check="\w+"\}) == (\d)`).FindAllStringSubmatch(rule.Expr, -1) {
				require.Contains(t, shown.Body.String(), condition[1]+" "+condition[2]+"\n", rule.Expr)
				conditions++
			}
		}
	}
	require.Equal(t, 2, conditions, "of the alert")
	page := graphtest.Got(os.ReadFile("../../docs/runbook/StoaConnectionsRefused.md"))(t)
	for _, name := range []string{"`database: refuses_connections`", `"` + newConnectionsCheck + `"`, "not currently accepting connections"} {
		require.Contains(t, string(page), name)
	}
}
