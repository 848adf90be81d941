package httpserver_test

import (
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// served reports whether a new connection is accepted.
func served(t *testing.T, s *httpserver.Server) bool {
	t.Helper()
	c := dial(t, s)
	defer c.Close()
	_, _ = io.WriteString(c, request) // it may be closed already
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config httpserver.Config
		code   fault.Code
	}{
		"per address": {httpserver.Config{ConnectionsPerAddress: 3}, fault.RateLimited},
		"altogether":  {httpserver.Config{Connections: 3}, fault.ServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, ok, unbounded(), c.config)
			var open []*client
			for range 3 {
				one := dial(t, s)
				one.send(request)
				require.Equal(t, http.StatusOK, one.answer().StatusCode)
				open = append(open, one)
			}
			silent := dial(t, s)
			a := silent.answer()
			a.fault(t, c.code)
			require.True(t, a.Close)
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			silent.ended()

			open[0].send(request)
			require.Equal(t, http.StatusOK, open[0].answer().StatusCode, "who is in stays in")
			require.NoError(t, open[0].Close())
			require.Eventually(t, func() bool { return served(t, s) }, slack.TestWait, 10*time.Millisecond, "the place is not given back")
		})
	}
}

func TestTrustedProxiesHaveNoLimitPerAddress(t *testing.T) {
	t.Parallel()
	s := start(t, ok, unbounded(), httpserver.Config{ConnectionsPerAddress: 1, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for range 5 {
		c := dial(t, s)
		c.send(request)
		require.Equal(t, http.StatusOK, c.answer().StatusCode)
	}
}

// A connection that was taken over counts until it is closed.
func TestHijackedConnectionsCount(t *testing.T) {
	t.Parallel()
	taken := make(chan io.Closer, 1)
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			ok(w, r)
			return
		}
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			taken <- conn
		}
	}, unbounded(), httpserver.Config{ConnectionsPerAddress: 1})
	c := dial(t, s)
	c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	conn := <-taken
	require.False(t, served(t, s))
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return served(t, s) }, slack.TestWait, 10*time.Millisecond, "the place is not given back")
}
