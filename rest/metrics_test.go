package rest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/metrics"
	"stoa/rest"
)

// A path or method that a client invents does not become a series.
func TestRequestsAreCountedByKnownLabels(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	s := serve(t, graphtest.New(t), rest.Config{Metrics: m})
	for _, method := range []string{"BREW", "STEEP"} {
		s.send(method, "/api/v1/posts", "", nil)
		s.send(method, "/nowhere", "", nil)
	}
	s.send("GET", "/skill.md", "", nil) // a handler that only writes a body
	shown := httptest.NewRecorder()
	m.Handler().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := shown.Body.String()
	require.Contains(t, text, `stoa_http_requests_total{code="405",method="other",route="/api/v1/posts"} 2`)
	require.Contains(t, text, `stoa_http_requests_total{code="404",method="other",route="unmatched"} 2`)
	require.Contains(t, text, `stoa_http_requests_total{code="200",method="GET",route="/api/v1/posts"} 0`)
	require.Contains(t, text, `stoa_http_requests_total{code="200",method="GET",route="/skill.md"} 1`)
	require.Contains(t, text, `stoa_http_faults_total{code="method_not_allowed"} 2`)
	require.NotContains(t, text, "BREW")
}
