package jobs_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/viewer"
	"stoa/jobs"
)

// The guard of the mount is not the only one: without an operator in the context nothing changes, and without an audit entry
// neither.
func TestOnlyOperatorsActOnTheDashboard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
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
	for _, kind := range []viewer.Kind{viewer.Anonymous, viewer.Agent, viewer.System} {
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
