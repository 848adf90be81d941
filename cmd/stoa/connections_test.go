package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// Both listeners answer at once a request whose body they do not read, and limit the connections of an address.
func TestUnsentBodiesAndConnectionLimit(t *testing.T) {
	t.Parallel()
	const limit = 8
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), fmt.Sprintf("STOA_LIMIT_CONNECTIONS_PER_ADDRESS=%d", limit))
	for origin, requests := range map[string]map[string]int{
		s.url: {
			"GET /healthz":         http.StatusOK,
			"POST /api/v1/orders":  http.StatusUnauthorized,
			"DELETE /nowhere":      http.StatusNotFound,
			"GET /api/v1/services": http.StatusOK,
		},
		s.operator: {"GET /healthz": http.StatusOK, "GET /metrics": http.StatusOK, "GET /debug/pprof/": http.StatusUnauthorized},
	} {
		for request, status := range requests {
			for _, body := range []string{
				"Content-Length: 10\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "Content-Length: 10\r\n\r\n{",
			} {
				conn := dialOrigin(t, origin)
				a := exchangeRaw(t, conn, request+" HTTP/1.1\r\nHost: x\r\n"+body)
				require.NotNil(t, a, request)
				require.Equal(t, status, a.status, "%s: %s", request, a.raw)
				require.True(t, a.closing, request)
				require.NoError(t, conn.Close())
			}
		}
		large := exchangeRaw(t, dialOrigin(t, origin), "GET / HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 200<<10)+"\r\n\r\n")
		require.Equal(t, "header_fields_too_large", large.code())
		unheard := exchangeRaw(t, dialOrigin(t, origin), "GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n")
		require.Equal(t, "expectation_failed", unheard.code())

		var refused *httpAnswer
		eventually(t, func() bool { // connections of before may still count
			var open []net.Conn
			refused = nil
			for refused == nil || refused.status == http.StatusOK {
				open = append(open, dialOrigin(t, origin))
				refused = exchangeRaw(t, open[len(open)-1], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			for _, conn := range open {
				_ = conn.Close()
			}
			return len(open) == limit+1
		}, "another number of connections is let in")
		require.Equal(t, http.StatusTooManyRequests, refused.status)
		require.Equal(t, "rate_limited", refused.code())
		require.NotEmpty(t, refused.header.Get("Retry-After"))
	}
	var metrics *httpAnswer
	eventually(t, func() bool {
		metrics = exchangeRaw(t, dialOrigin(t, s.operator), "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		return metrics != nil && metrics.status == http.StatusOK
	}, "no metrics")
	require.Regexp(t, `stoa_limit_refusals_total\{limit="connections_per_address"\} [1-9]`, string(metrics.raw))
	require.Contains(t, string(metrics.raw), `stoa_limit_refusals_total{limit="connections"} 0`)
}
