package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/metrics"
	"stoa/jobs"
	"stoa/rest"
)

// site is a running public listener on a world.
type site struct {
	*graphtest.World
	url      string
	draining atomic.Bool
	t        testing.TB
}

func newSite(t testing.TB, options ...graphtest.Option) *site {
	t.Helper()
	return serve(t, graphtest.New(t, options...), rest.Config{})
}

// shared is the world of tests that do not disturb each other; files also has a file store and the real inspection.
var (
	shared graphtest.Shared
	files  = graphtest.Shared{Setup: func(w *graphtest.World) { w.InspectWith(jobs.InspectFile) }}
)

// sharedSite returns a listener on the shared world.
func sharedSite(t testing.TB) *site {
	t.Helper()
	return serve(t, shared.World(t), rest.Config{})
}

// sharedFileSite returns a listener on the shared world for file tests.
func sharedFileSite(t testing.TB) *site {
	t.Helper()
	return serve(t, files.World(t), rest.Config{})
}

// serve starts a listener on a world; it fills in the world's parts of the configuration.
func serve(t testing.TB, world *graphtest.World, config rest.Config) *site {
	t.Helper()
	return serveWithin(t, world, config, httpserver.DefaultTimeouts())
}

// serveWithin is serve, with timeouts of the HTTP server.
func serveWithin(t testing.TB, world *graphtest.World, config rest.Config, timeouts httpserver.Timeouts) *site {
	t.Helper()
	s := &site{World: world, t: t}
	config.Graph, config.Draining = world.Graph, &s.draining
	errors := new(errorLog)
	config.Logger = slog.New(slog.NewTextHandler(errors, &slog.HandlerOptions{Level: slog.LevelError}))
	t.Cleanup(func() { errors.show(t) })
	config.Checks = metrics.Checks{"database": world.DB.Ping}
	server, err := httpserver.Listen(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), httpserver.Config{Logger: config.Logger, Timeouts: &timeouts})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // some tests leave requests behind
	})
	s.url = "http://" + server.Address()
	config.Origin = s.url
	server.Handle(rest.New(config))
	return s
}

// errorLog keeps the errors that a server logs, such as the cause of an internal_error.
type errorLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *errorLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// show logs the kept text if the test has failed.
func (l *errorLog) show(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Failed() && l.text.Len() > 0 {
		t.Logf("errors of the server:\n%s", &l.text)
	}
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	// closing reports that the server closes the connection.
	closing bool
	body    map[string]any
	raw     []byte
	t       testing.TB
}

// send makes a request. body is JSON text, nil for none; token may be empty.
func (s *site) send(method, path, token string, body any, headers ...string) *answer {
	s.t.Helper()
	var reader io.Reader
	if body != nil {
		text, ok := body.(string)
		if !ok {
			raw, err := json.Marshal(body)
			require.NoError(s.t, err)
			text = string(raw)
		}
		reader = bytes.NewReader([]byte(text))
	}
	request, err := http.NewRequest(method, s.url+path, reader)
	require.NoError(s.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return newAnswer(s.t, response, raw)
}

func newAnswer(t testing.TB, response *http.Response, raw []byte) *answer {
	t.Helper()
	a := &answer{status: response.StatusCode, header: response.Header, closing: response.Close, raw: raw, t: t}
	if len(raw) > 0 && a.header.Get("Content-Type") == "application/json" {
		require.NoError(t, json.Unmarshal(raw, &a.body), "%s", raw)
	}
	return a
}

// ok requires a status and returns the body.
func (a *answer) ok(status int) map[string]any {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.raw)
	return a.body
}

// fault requires an error body with the code and its status from the contract's table.
func (a *answer) fault(status int, code fault.Code) map[string]any {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.raw)
	failure, ok := a.body["error"].(map[string]any)
	require.True(a.t, ok, "%s", a.raw)
	require.Equal(a.t, string(code), failure["code"], "%s", a.raw)
	require.NotEmpty(a.t, failure["message"])
	return failure
}
