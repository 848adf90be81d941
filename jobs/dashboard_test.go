package jobs_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/jobs"
)

// Besides the guard of the mount, nothing changes without an operator in the context, or without an audit entry.
func TestOnlyOperatorsActOnTheDashboard(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: h.Graph, DB: h.DB, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(dashboard.Stop)
	h.Exec("INSERT INTO river_queue (name, updated_at) VALUES ('maintenance', now())")
	paused := func() int64 {
		return h.Count("SELECT count(*) FROM river_queue WHERE paused_at IS NOT NULL")
	}
	pause := func(who viewer.Viewer) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodPut, "/jobs/api/queues/maintenance/pause", strings.NewReader("{}"))
		answer := httptest.NewRecorder()
		dashboard.ServeHTTP(answer, request.WithContext(viewer.With(request.Context(), who)))
		return answer
	}
	for _, kind := range []viewer.Kind{viewer.Anonymous, viewer.Agent} {
		require.Equal(t, http.StatusUnauthorized, pause(viewer.Viewer{Kind: kind}).Code)
	}
	h.Exec("ALTER TABLE audit_entries RENAME TO elsewhere")
	refused := pause(viewer.Viewer{Kind: viewer.Operator, Name: "Ada"})
	require.Equal(t, http.StatusInternalServerError, refused.Code)
	require.NotContains(t, refused.Body.String(), "elsewhere")
	require.Zero(t, paused())
	h.Exec("ALTER TABLE elsewhere RENAME TO audit_entries")
	require.Equal(t, http.StatusOK, pause(viewer.Viewer{Kind: viewer.Operator, Name: "Ada"}).Code)
	require.EqualValues(t, 1, paused())
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM audit_entries WHERE operator = 'Ada' AND procedure = 'jobs.pauseQueue' AND target = 'maintenance'"))
}

// Only the jobs and the queue that an act concerns are kept of it.
func TestActsAreReadStrictly(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: h.Graph, DB: h.DB, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(dashboard.Stop)
	act := func(method, path, body string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, "/jobs/api/"+path, strings.NewReader(body))
		answer := httptest.NewRecorder()
		dashboard.ServeHTTP(answer, request.WithContext(viewer.With(request.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Ada"})))
		return answer
	}
	for _, body := range []string{
		`{"ids":["1"],"ids":["2"]}`, `{"ids":["1"],"IDs":["2"]}`, `{"ids":["1"],"note":"\u0000"}`, `{"ids":["\u0000"]}`, `{"ids":["one"]}`, `null`,
		`{"ids":["1"],"note":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	} {
		require.Equal(t, http.StatusBadRequest, act(http.MethodPost, "jobs/cancel", body).Code, "%.60s", body)
	}
	for _, queue := range []string{"a%00b", "%ff", strings.Repeat("a", 65)} {
		require.Equal(t, http.StatusBadRequest, act(http.MethodPut, "queues/"+queue+"/pause", "").Code, queue)
	}
	require.Equal(t, http.StatusMethodNotAllowed, act(http.MethodPatch, "queues/maintenance", `{"concurrency":null}`).Code)
	require.Zero(t, h.Count("SELECT count(*) FROM audit_entries"))
	require.Equal(t, http.StatusNotFound, act(http.MethodPost, "jobs/cancel", `{"ids":["4611686018427387904"]}`).Code)
	require.EqualValues(t, 1, h.Count(`SELECT count(*) FROM audit_entries WHERE details = '{"ids": ["4611686018427387904"]}'`))
}

// The console's filter of the audit log offers every action of the dashboard.
func TestActsOfTheDashboardAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range jobs.Actions() {
		require.Contains(t, operator.Acts(), "jobs."+name)
	}
}

// While the database is away the page fails for a while, not permanently.
func TestTheDashboardWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	own, err := db.Open(h.URL, db.Options{})
	require.NoError(t, err)
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: h.Graph, DB: own, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(dashboard.Stop)
	show := func() *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		dashboard.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/jobs/api/queues", nil))
		return answer
	}
	require.Equal(t, http.StatusOK, show().Code)
	h.Exec("ALTER TABLE river_queue RENAME TO elsewhere")
	require.Equal(t, http.StatusInternalServerError, show().Code)
	require.NoError(t, own.Close())
	refused := show()
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	require.NotEmpty(t, refused.Header().Get("Retry-After"))
}

// The dashboard opens on jobs that failed for good within a day, else on jobs that are tried again, else on waiting jobs; its
// pages lead back to the console.
func TestTheDashboardOpensOnWhatFailed(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: h.Graph, DB: h.DB, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(dashboard.Stop)
	get := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		dashboard.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer
	}
	insert := func(state, finalized string) {
		h.Exec(`INSERT INTO river_job (kind, args, max_attempts, state, finalized_at) VALUES ('test', '{}', 1, $1::river_job_state, `+finalized+`)`, state)
	}
	opens := func(state string) {
		t.Helper()
		for _, path := range []string{"/jobs", "/jobs/"} {
			require.Equal(t, http.StatusSeeOther, get(path).Code)
			require.Equal(t, "/jobs/jobs?state="+state, get(path).Header().Get("Location"))
		}
	}
	h.Exec("DELETE FROM river_job")
	opens("available")
	insert("discarded", "now() - interval '2 days'")
	opens("available")
	insert("retryable", "NULL")
	opens("retryable")
	insert("discarded", "now()")
	opens("discarded")
	page := get("/jobs/jobs?state=discarded")
	require.Equal(t, http.StatusOK, page.Code)
	require.Contains(t, page.Body.String(), ">Back to the console</a></nav></body>")
	require.Contains(t, page.Body.String(), `<a href="/" `)
	require.NotContains(t, get("/jobs/api/queues").Body.String(), "console")
}
