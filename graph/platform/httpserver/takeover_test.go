package httpserver_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

// A connection that was taken over is answered after its handler has returned, with the header of its request, and counts until then.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	taken := make(chan *httpserver.TakenOver, 1)
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/later" {
			ok(w, r)
			return
		}
		w.Header().Set("X-Kept", "yes")
		if conn, err := httpserver.TakeOver(w); err == nil {
			taken <- conn
		}
	}, unbounded(), httpserver.Config{ConnectionsPerAddress: 1})
	c := dial(t, s)
	c.send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
	conn := <-taken
	require.False(t, served(t, s))
	require.NoError(t, conn.Answer(func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusAccepted)
		_, err := io.WriteString(w, "later")
		require.NoError(t, err)
	}))
	require.NoError(t, conn.Close())
	a := c.answer()
	require.Equal(t, http.StatusAccepted, a.StatusCode)
	require.Equal(t, "later", string(a.raw))
	require.Equal(t, "yes", a.Header.Get("X-Kept"))
	require.NotEmpty(t, a.Header.Get("Date"))
	require.True(t, a.Close)
	c.ended()
	require.Eventually(t, func() bool { return served(t, s) }, slack.TestWait, slack.TestWait/1000)
}

// An answer without an end goes on until the connection is closed.
func TestTakenOverForGood(t *testing.T) {
	t.Parallel()
	s := start(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, err := httpserver.TakeOver(w)
		if err != nil {
			return
		}
		conn.EndUnlessHeard(slack.TestWait)
		go func() {
			defer conn.Close()
			if conn.Begin(http.StatusOK, []byte("one\n")) == nil {
				_, _ = io.WriteString(conn, "two\n")
			}
		}()
	}, unbounded(), httpserver.Config{})
	c := dial(t, s)
	c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Equal(t, "one\ntwo\n", string(c.answer().raw))
}
