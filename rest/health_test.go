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
	"stoa/rest"
)

// A database that is hung neither answers nor hangs up, and its driver does not heed the context.
func TestReadinessDoesNotWaitForACheckThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		require.Equal(t, map[string]string{"database": "failing", "storage": "ok"}, unready(t, map[string]rest.Check{
			"database": func(context.Context) error { <-hang; return nil },
			"storage":  func(context.Context) error { return nil },
		}))
		close(hang)
	})
}

// A database that refuses new connections is named as the cause, since all else goes on for a while.
func TestReadinessNamesRefusedConnections(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{"database": "refuses_connections"}, unready(t, map[string]rest.Check{
		"database": func(context.Context) error { return fmt.Errorf("%w: too many clients", db.ErrRefusesConnections) },
	}))
}

// unready returns what /readyz says of the checks, and requires it to be 503.
func unready(t *testing.T, checks map[string]rest.Check) map[string]string {
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
