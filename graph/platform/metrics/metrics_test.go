package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/docs"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
)

// shown returns the body of /metrics.
func shown(t testing.TB, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	return answer.Body.String()
}

func TestRequestsAreCountedByRouteMethodAndStatus(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.HTTP.Expect("/posts/{post_id}", http.MethodPost, "201")
	require.Contains(t, shown(t, m), `stoa_http_requests_total{code="201",method="POST",route="/posts/{post_id}"} 0`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				m.InFlight.Add(1)
				m.HTTP.Done(3*time.Millisecond, "/posts/{post_id}", http.MethodGet, "200")
				m.InFlight.Add(-1)
			}
		})
	}
	all.Wait()
	m.Faults.Count(string(fault.MethodNotAllowed))
	text := shown(t, m)
	for _, line := range []string{
		`stoa_http_requests_total{code="200",method="GET",route="/posts/{post_id}"} 800`,
		`stoa_http_request_duration_seconds_bucket{method="GET",route="/posts/{post_id}",le="0.0025"} 0`,
		`stoa_http_request_duration_seconds_bucket{method="GET",route="/posts/{post_id}",le="0.005"} 800`,
		`stoa_http_faults_total{code="method_not_allowed"} 1`,
		`stoa_http_faults_total{code="not_found"} 0`,
		`stoa_http_requests_in_flight 0`,
		`stoa_build_info{goversion=`,
	} {
		require.Contains(t, text, line)
	}
}

func TestNilMetricsCountNothing(t *testing.T) {
	t.Parallel()
	var m metrics.Metrics
	m.HTTP.Expect("/", http.MethodGet, "200")
	m.HTTP.Done(time.Second, "/", http.MethodGet, "200")
	m.Limits.CountEach([]string{"a limit"})
	m.Show(func() []metrics.Value { panic("nobody asks") })
}

// A value that is missing in the table must cause an error.
func TestOnlyMetricsOfTheDocumentAreShown(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.Show(func() []metrics.Value { return []metrics.Value{{Name: "stoa_other", Value: 1}} })
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusInternalServerError, answer.Code)
	require.Contains(t, answer.Body.String(), "stoa_other is not in docs/metrics.md")
}

func TestOtherCounts(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.GraphQL.Done(time.Second, "mutation", string(fault.Forbidden))
	m.GraphQL.Done(time.Second, "query", metrics.OK)
	m.Limits.Count("mutations")
	m.Jobs.Expect("cleanup", metrics.Failed)
	m.Jobs.Done(time.Second, "deliver", metrics.Discarded)
	m.Inspections.Done(time.Second, metrics.Undecided)
	m.Mails.Count(metrics.MailRefused)
	m.Show(func() []metrics.Value {
		return []metrics.Value{
			{Name: "stoa_sockets_open", Value: 2}, {Name: "stoa_sockets_closed_total", Value: 3, Labels: []string{"4429"}},
		}
	})
	m.Checks(metrics.Checks{
		"storage":  func(context.Context) error { return errors.New("full") },
		"database": func(context.Context) error { return nil },
	})
	text := shown(t, m)
	for _, line := range []string{
		`stoa_graphql_requests_total{code="forbidden",operation="mutation"} 1`,
		`stoa_graphql_requests_total{code="ok",operation="query"} 1`,
		`stoa_limit_refusals_total{limit="mutations"} 1`,
		`stoa_limit_refusals_total{limit="requests_per_address"} 0`,
		`stoa_job_runs_total{kind="cleanup",outcome="failed"} 0`,
		`stoa_job_runs_total{kind="deliver",outcome="discarded"} 1`,
		`stoa_inspection_verdicts_total{verdict="failed"} 1`,
		`stoa_mail_attempts_total{outcome="refused"} 1`,
		`stoa_mail_attempts_total{outcome="expired"} 0`,
		`stoa_sockets_open 2`,
		`stoa_sockets_closed_total{code="4429"} 3`,
		`stoa_check_passing{check="storage"} 0`,
		`stoa_check_passing{check="database"} 1`,
	} {
		require.Contains(t, text, line)
	}
}

// The names in the document follow Prometheus's conventions, and each appears once.
func TestTheTableIsSound(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\| (.*?) \\| .*? \\| (.*) \\|$").FindAllStringSubmatch(docs.Metrics(), -1)
	require.NotEmpty(t, rows)
	names := make(map[string]bool)
	for _, row := range rows {
		name, kind := row[1], row[2]
		require.False(t, names[name], name)
		names[name] = true
		require.Regexp(t, `^stoa_[a-z_]+$`, name)
		require.Contains(t, []string{"counter", "gauge", "histogram"}, kind)
		require.Equal(t, kind == "counter", strings.HasSuffix(name, "_total"), name)
		require.False(t, kind == "histogram" && !strings.HasSuffix(name, "_seconds"), name)
		require.True(t, strings.HasSuffix(row[3], "."), name)
	}
}
