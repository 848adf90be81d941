package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/rest"
)

// A hung database neither answers nor closes the connection, and its driver ignores the context.
func TestReadinessDoesNotWaitForACheckThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		require.Equal(t, map[string]string{"database": "failing", "storage": "ok"}, unready(t, metrics.Checks{
			"database": func(context.Context) error { <-hang; return nil },
			"storage":  func(context.Context) error { return nil },
		}))
		close(hang)
	})
}

// /readyz names a database that refuses new connections: everything else still works for a while.
func TestReadinessNamesRefusedConnections(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{"database": "refuses_connections"}, unready(t, metrics.Checks{
		"database": func(context.Context) error { return fmt.Errorf("%w: too many clients", db.ErrRefusesConnections) },
	}))
}

// unready returns the checks of /readyz, and requires the status 503.
func unready(t *testing.T, checks metrics.Checks) map[string]string {
	t.Helper()
	server := rest.New(rest.Config{Logger: slog.New(slog.DiscardHandler), Draining: new(atomic.Bool), Checks: checks})
	got := httptest.NewRecorder()
	server.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	var answer struct {
		Checks map[string]string `json:"checks"`
	}
	require.NoError(t, json.NewDecoder(got.Body).Decode(&answer))
	return answer.Checks
}
