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

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/rest"
)

// A database that is hung neither answers nor hangs up, and its driver does not heed the context.
func TestReadinessDoesNotWaitForACheckThatHangs(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	server := httptest.NewServer(rest.New(rest.Config{
		Logger:   slog.New(slog.DiscardHandler),
		Draining: new(atomic.Bool),
		Checks: map[string]rest.Check{
			"database": func(context.Context) error { <-hang; return nil },
			"storage":  func(context.Context) error { return nil },
		},
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hang) })
	require.Equal(t, map[string]string{"database": "failing", "storage": "ok"}, unready(t, server.URL))
}

// A database that refuses new connections is named as the cause, since all else goes on for a while.
func TestReadinessNamesRefusedConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(rest.New(rest.Config{
		Logger:   slog.New(slog.DiscardHandler),
		Draining: new(atomic.Bool),
		Checks: map[string]rest.Check{
			"database": func(context.Context) error { return fmt.Errorf("%w: too many clients", db.ErrRefusesConnections) },
		},
	}))
	t.Cleanup(server.Close)
	require.Equal(t, map[string]string{"database": "refuses_connections"}, unready(t, server.URL))
}

// unready returns the checks of /readyz, which must be 503.
func unready(t *testing.T, origin string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slack.TestWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/readyz", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	var answer struct {
		Checks map[string]string `json:"checks"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return answer.Checks
}
