package rest_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
	"stoa/rest"
)

// /readyz does not wait for a database that hangs, even if its driver ignores the context. It names a database that refuses new
// connections: everything else still works for a while.
func TestReadinessNamesFailedChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		for want, failing := range map[string]func(context.Context) error{
			"failing":             func(context.Context) error { <-hang; return nil },
			"refuses_connections": func(context.Context) error { return fmt.Errorf("%w: too many clients", db.ErrRefusesConnections) },
		} {
			checks := metrics.Checks{"database": failing, "storage": func(context.Context) error { return nil }}
			server := rest.New(rest.Config{Logger: slog.New(slog.DiscardHandler), Draining: new(atomic.Bool), Checks: checks})
			got := httptest.NewRecorder()
			server.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
			newAnswer(t, got.Result(), got.Body.Bytes()).has(503, object{"checks": object{"database": want, "storage": "ok"}})
		}
	})
}

// An unknown path or method does not become a series of the metrics.
func TestRequestsAreCountedByKnownLabels(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	s := serve(t, graphtest.New(t), rest.Config{Metrics: m})
	for _, method := range []string{"BREW", "STEEP"} {
		s.send(method, "/api/v1/posts", "", nil)
		s.send(method, "/nowhere", "", nil)
	}
	s.send("GET", "/skill.md", "", nil) // a handler that only writes a body
	var text string
	require.Eventually(t, func() bool { // a request is counted after its answer
		shown := httptest.NewRecorder()
		m.Handler().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		text = shown.Body.String()
		return strings.Contains(text, `stoa_http_requests_total{code="200",method="GET",route="/skill.md"} 1`)
	}, slack.TestWait, 10*time.Millisecond)
	require.Contains(t, text, `stoa_http_requests_total{code="405",method="other",route="/api/v1/posts"} 2`)
	require.Contains(t, text, `stoa_http_requests_total{code="404",method="other",route="unmatched"} 2`)
	require.Contains(t, text, `stoa_http_requests_total{code="200",method="GET",route="/api/v1/posts"} 0`)
	require.Contains(t, text, `stoa_http_faults_total{code="method_not_allowed"} 2`)
	require.NotContains(t, text, "BREW")
}

// A client that hangs up before its answer does not make the server look unavailable.
func TestAClientThatHangsUpIsCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	away := metrics.Checks{"database": func(ctx context.Context) error { return ctx.Err() }}
	server := rest.New(rest.Config{Logger: slog.New(slog.DiscardHandler), Draining: new(atomic.Bool), Checks: away, Metrics: m})
	left, leave := context.WithCancel(t.Context())
	leave()
	server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(left, http.MethodGet, "/readyz", http.NoBody))
	shown := httptest.NewRecorder()
	m.Handler().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(t, shown.Body.String(), `stoa_http_requests_total{code="499",method="GET",route="/readyz"} 1`)
}

// If the database hangs, at any point, a request fails within 5 s. Its work in the database ends as well, and service resumes by
// itself.
func TestHungDatabase(t *testing.T) {
	t.Parallel()
	const connections = 3 // one for each of the requests
	for name, hang := range map[string]func(t *testing.T, world *graphtest.World, served *db.DB, silent func(bool)) (release func()){
		"it says nothing": func(_ *testing.T, _ *graphtest.World, _ *db.DB, silent func(bool)) func() {
			silent(true)
			return func() { silent(false) }
		},
		"a lock is held": func(t *testing.T, world *graphtest.World, _ *db.DB, _ func(bool)) func() {
			t.Helper()
			tx, err := world.DB.SQL.Pool.BeginTx(db.Patient(t.Context()), nil)
			require.NoError(t, err)
			for _, statement := range []string{"SET LOCAL idle_in_transaction_session_timeout = 0", "LOCK TABLE bots, message_guards IN ACCESS EXCLUSIVE MODE"} {
				graphtest.OK(t)(tx.ExecContext(t.Context(), statement))
			}
			return func() { require.NoError(t, tx.Rollback()) }
		},
		"no connection is free": func(t *testing.T, _ *graphtest.World, served *db.DB, _ func(bool)) func() {
			t.Helper()
			var held [connections]*sql.Conn
			for i := range held {
				held[i] = graphtest.Got(served.SQL.Pool.Conn(t.Context()))(t)
			}
			return func() {
				for _, conn := range held {
					require.NoError(t, conn.Close())
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := graphtest.New(t)
			one, other := world.Friends()
			proxy := graphtest.NewDatabaseProxy(t, world.URL)
			served := graphtest.Got(db.Open(proxy.URL+"&application_name=hung", db.Options{Connections: connections}))(t)
			t.Cleanup(func() { require.NoError(t, served.Close()) })
			s := serve(t, &graphtest.World{Graph: graph.New(graph.Config{DB: served, TokenTTL: time.Hour}), DB: served}, rest.Config{})
			s.get(one, "/bots/me").ok(200)

			release := hang(t, world, served, proxy.Hung.Store)
			type request struct {
				method, path string
				body         any
			}
			var group sync.WaitGroup
			for _, r := range []request{
				{"GET", "/api/v1/bots/me", nil}, {"POST", "/api/v1/messages", envelope(one, other)}, {"POST", "/mcp", object{}},
			} {
				group.Go(func() {
					began := time.Now()
					s.send(r.method, r.path, one.Token, r.body).fault(fault.ServiceUnavailable)
					require.Less(t, time.Since(began), slack.TestWait, r.path)
				})
			}
			group.Wait()
			require.Eventually(t, func() bool {
				return world.Count("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hung' AND state <> 'idle' AND backend_type = 'client backend'") == 0
			}, slack.TestWait, 20*time.Millisecond, "the statement was given up")
			release()
			s.get(one, "/bots/me").ok(200)
		})
	}
}
