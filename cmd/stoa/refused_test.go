package main

import (
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
	"stoa/rest"
)

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
	overview, err := w.Operator.Overview(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"}))
	require.NoError(t, err)
	require.Equal(t, []string{newConnectionsCheck}, overview.Processes[0].Failing)
	require.Contains(t, overview.Attention, &operator.Attention{
		Kind: "refused_processes", Count: 1, Text: "process gets no new connections to the database and lives on those that it has.",
	})

	p.metrics.Checks(p.metricChecks())
	shown := httptest.NewRecorder()
	p.metrics.Handler().ServeHTTP(shown, httptest.NewRequestWithContext(t.Context(), http.MethodGet, metricsPath, http.NoBody))
	var alerts alertRules
	raw, err := os.ReadFile("../../docs/alerts.yml")
	require.NoError(t, err)
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
	page, err := os.ReadFile("../../docs/runbook/StoaConnectionsRefused.md")
	require.NoError(t, err)
	for _, name := range []string{"`database: refuses_connections`", `"` + newConnectionsCheck + `"`, "not currently accepting connections"} {
		require.Contains(t, string(page), name)
	}
}
