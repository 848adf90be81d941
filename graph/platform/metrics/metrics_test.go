package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	posts := m.HTTP.Pattern("/posts/{post_id}")
	posts.Expect(http.MethodPost, http.StatusCreated)
	require.Contains(t, shown(t, m), `stoa_http_requests_total{code="201",method="POST",route="/posts/{post_id}"} 0`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				m.HTTP.Began()
				m.HTTP.Pattern("/posts/{post_id}").Done(http.MethodGet, http.StatusOK, 3*time.Millisecond)
				m.HTTP.Ended()
			}
		})
	}
	all.Wait()
	posts.Done("BREW", http.StatusMethodNotAllowed, time.Millisecond)
	posts.Done("STEEP", http.StatusMethodNotAllowed, time.Millisecond)
	m.HTTP.Fault(fault.MethodNotAllowed)
	m.HTTP.Fault("no_code_of_ours")
	text := shown(t, m)
	for _, line := range []string{
		`stoa_http_requests_total{code="200",method="GET",route="/posts/{post_id}"} 800`,
		`stoa_http_requests_total{code="405",method="other",route="/posts/{post_id}"} 2`,
		`stoa_http_request_duration_seconds_bucket{method="GET",route="/posts/{post_id}",le="0.0025"} 0`,
		`stoa_http_request_duration_seconds_bucket{method="GET",route="/posts/{post_id}",le="0.005"} 800`,
		`stoa_http_faults_total{code="method_not_allowed"} 1`,
		`stoa_http_faults_total{code="not_found"} 0`,
		`stoa_http_requests_in_flight 0`,
		`stoa_build_info{goversion=`,
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "BREW")
	require.NotContains(t, text, "no_code_of_ours")
}

func TestNilMetricsCountNothing(t *testing.T) {
	t.Parallel()
	var m metrics.Metrics
	m.HTTP.Began()
	m.HTTP.Ended()
	m.HTTP.Fault(fault.NotFound)
	m.HTTP.Pattern("/").Expect(http.MethodGet, http.StatusOK)
	m.HTTP.Pattern("/").Done(http.MethodGet, http.StatusOK, time.Second)
	m.GraphQL.Done(metrics.Query, "", time.Second)
	m.Limits.Expect("a limit")
	m.Limits.Refused("a limit")
	m.Jobs.Expect("a kind")
	m.Jobs.Done("a kind", metrics.Completed, time.Second)
	m.Inspections.Done(metrics.Accepted, time.Second)
	m.Mails.Done(metrics.MailSent)
}

func TestOtherCounts(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.GraphQL.Done(metrics.Mutation, fault.Forbidden, time.Second)
	m.GraphQL.Done(metrics.Query, "", time.Second)
	m.Limits.Refused("mutations")
	m.Jobs.Expect("cleanup")
	m.Jobs.Done("deliver", metrics.Discarded, time.Second)
	m.Inspections.Done(metrics.Undecided, time.Second)
	m.Mails.Done(metrics.MailRefused)
	m.PrivateCluster(true)
	m.Sockets(func() metrics.Sockets {
		return metrics.Sockets{Open: 2, Limit: 32, Closed: map[int]int64{4429: 3}, Linked: true}
	})
	m.Checks(map[string]metrics.Check{
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
		`stoa_private_cluster 1`,
		`stoa_sockets_open 2`,
		`stoa_sockets_closed_total{code="4429"} 3`,
		`stoa_sockets_linked 1`,
		`stoa_check_passing{check="storage"} 0`,
		`stoa_check_passing{check="database"} 1`,
	} {
		require.Contains(t, text, line)
	}
}

// The names are Prometheus's way of naming, and each is there once.
func TestRowsAreSound(t *testing.T) {
	t.Parallel()
	var names []string
	for _, domain := range metrics.Domains() {
		require.NotEmpty(t, domain.Rows)
		for _, row := range domain.Rows {
			names = append(names, row.Name)
			require.Regexp(t, `^stoa_[a-z_]+$`, row.Name)
			require.Equal(t, row.Kind == metrics.Counter, strings.HasSuffix(row.Name, "_total"), row.Name)
			require.False(t, row.Kind == metrics.Histogram && !strings.HasSuffix(row.Name, "_seconds"), row.Name)
			require.True(t, strings.HasSuffix(row.Help, "."), row.Name)
		}
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names))
}

func BenchmarkRequest(b *testing.B) {
	m := metrics.New("v1")
	posts := map[string]*metrics.Pattern{"/posts/{post_id}": m.HTTP.Pattern("/posts/{post_id}")}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.HTTP.Began()
			posts["/posts/{post_id}"].Done(http.MethodGet, http.StatusOK, 3*time.Millisecond)
			m.HTTP.Ended()
		}
	})
}
