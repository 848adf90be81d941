package console_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// stream is the stream of a page that refreshes itself, as a browser opens it.
type stream struct {
	*http.Response

	lines *bufio.Scanner
	close context.CancelFunc
}

func (w *world) stream(tables string, headers ...string) *stream {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), slack.TestWait)
	w.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/live?of="+tables, nil)
	require.NoError(w.t, err)
	request.Header.Set("Cookie", w.cookie)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = answer.Body.Close() })
	return &stream{answer, bufio.NewScanner(answer.Body), cancel}
}

// next waits for a line of the stream; false: it has ended.
func (s *stream) next(line string) bool {
	for s.lines.Scan() {
		if s.lines.Text() == line {
			return true
		}
	}
	return false
}

// A page that is watched gets the changes of the tables that it shows, and of no other.
func TestAPageGetsItsChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	page := w.page("/services")
	var of string
	for n := range page.Descendants() {
		if attribute(n, "id") == "live" {
			of = attribute(n, "data-of")
		}
	}
	require.Equal(t, "services", of)
	watched, other := w.stream(of), w.stream("trash_notices,nothing")
	require.Equal(t, http.StatusOK, watched.StatusCode)
	require.Equal(t, "text/event-stream", watched.Header.Get("Content-Type"))
	require.Equal(t, "no-store", watched.Header.Get("Cache-Control"))
	require.True(t, watched.next("retry: 5000"))
	told := make(chan bool)
	go func() { told <- watched.next("event: changed") }()
	require.Eventually(t, func() bool { // a change before the first look is none
		w.Exec("UPDATE services SET updated_at = stoa_now()")
		select {
		case ok := <-told:
			return ok
		case <-time.After(time.Second):
			return false
		}
	}, slack.TestWait, time.Millisecond)
	w.draining.Store(true)
	require.False(t, other.next("event: changed"), "its tables have not changed; it ends with the process")
	require.False(t, watched.next("nothing"))
	require.Empty(t, w.log.text.String())
}

// The tables that pages name exist.
func TestPagesNameTables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := 0
	for _, path := range []string{
		"/", "/now", "/agents", "/contacts", "/messages", "/feedback", "/reports", "/posts", "/tasks", "/responses", "/services", "/orders", "/ratings", "/wallets",
		"/ledger", "/rewards", "/files", "/events", "/mails", "/webhooks", "/deliveries", "/invitations", "/documents", "/audit",
	} {
		for n := range w.page(path).Descendants() {
			if attribute(n, "id") != "live" {
				continue
			}
			pages++
			for table := range strings.SplitSeq(attribute(n, "data-of"), ",") {
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM pg_stat_user_tables WHERE relname = $1 AND schemaname = current_schema()", table), "%s: %s", path, table)
			}
		}
	}
	require.Equal(t, 24, pages)
}

// Without a session there is no stream, another site opens none, and there are at most 32; one that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, http.StatusUnauthorized, w.stream("bots", "Cookie", "").StatusCode)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		require.Equal(t, http.StatusForbidden, w.stream("bots", headers...).StatusCode, headers)
	}
	require.Equal(t, http.StatusBadRequest, w.stream(strings.Repeat("x,", 40)).StatusCode)
	require.Equal(t, http.StatusOK, w.stream("bots", "Sec-Fetch-Site", "", "Origin", w.url).StatusCode)
	var open []*stream
	for range 31 {
		open = append(open, w.stream("bots"))
		require.Equal(t, http.StatusOK, open[len(open)-1].StatusCode)
	}
	refused := w.stream("bots")
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	open[0].close()
	require.Eventually(t, func() bool {
		again := w.stream("bots")
		defer again.close()
		return again.StatusCode == http.StatusOK
	}, slack.TestWait, 10*time.Millisecond)
	head := w.send(http.MethodHead, "/live?of=bots", "", "Cookie", w.cookie, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, "text/event-stream", head.Header.Get("Content-Type"))
}

// A stream ends with the session that opened it.
func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watched := w.stream("bots")
	require.True(t, watched.next("retry: 5000"))
	out := w.post("/sign-out", nil)
	require.Equal(t, http.StatusSeeOther, out.StatusCode)
	require.False(t, watched.next("nothing"))
	require.NoError(t, watched.lines.Err(), "it ended before the test lost its patience")
}
