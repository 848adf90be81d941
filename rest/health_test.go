package rest_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/readyz", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	var answer struct {
		Checks map[string]string `json:"checks"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(t, map[string]string{"database": "failing", "storage": "ok"}, answer.Checks)
}
