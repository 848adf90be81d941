package httpserver_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

// stopping begins a shutdown and waits until the server accepts no more connections.
func stopping(t *testing.T, s *httpserver.Server) <-chan error {
	t.Helper()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", s.Address())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, slack.TestWait, 5*time.Millisecond, "the listener stays open")
	return stopped
}

// A connection that is open when the shutdown begins still gets the answer to its first request.
func TestShutdownAnswersNewConnections(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Fresh = slack.TestWait
	s := start(t, ok, timeouts, httpserver.Config{})
	fresh, later := dial(t, s), dial(t, s)
	later.send(request)
	require.Equal(t, http.StatusOK, later.answer().StatusCode) // they are accepted in order
	stopped := stopping(t, s)
	fresh.send(request)
	require.Equal(t, http.StatusOK, fresh.answer().StatusCode)
	require.NoError(t, <-stopped)
}

// A connection that never sends anything does not delay the shutdown: it has ended before net/http waits 5 s for it.
func TestShutdownOfAnIdleServer(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Fresh = 50 * time.Millisecond
	s := start(t, ok, timeouts, httpserver.Config{})
	silent, idle := dial(t, s), dial(t, s)
	idle.send(request)
	require.Equal(t, http.StatusOK, idle.answer().StatusCode)
	s.AwaitFresh(t.Context())
	silent.ended()
	require.NoError(t, s.Shutdown(t.Context()))
	idle.ended()
}

// A request whose body does not arrive during the shutdown is answered.
func TestShutdownSoon(t *testing.T) {
	t.Parallel()
	s := start(t, readAll, unbounded(), httpserver.Config{})
	slow, later := dial(t, s), dial(t, s)
	slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
	later.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	require.Equal(t, http.StatusContinue, later.answer().StatusCode) // its body is waited for
	stopped := stopping(t, s)
	s.ShutdownSoon()
	for _, c := range []*client{slow, later} {
		a := c.answer()
		a.fault(t, fault.ServiceUnavailable)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	require.NoError(t, <-stopped)
}
