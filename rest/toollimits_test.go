package rest_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// An answer has at most 1 MiB, and next_page leads to the rest, with or without the page_size that was asked for.
func TestToolAnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author, reader := s.Agent(), s.Agent()
	s.Show(author, true)
	want := make(map[string]bool)
	for i, letter := range []string{"漢", "\U0001F600", "a\u200b", "\u200b", "\"\\", "<"} {
		for range 10 {
			text := "x" + strings.Repeat(letter, (8000-2)/len([]rune(letter))) + string(rune('a'+i))
			want[s.Posted(author, text, "public").ID.String()] = true
		}
	}
	for _, path := range []string{"/mcp", "/mcp?results=text"} {
		for _, size := range []map[string]any{{"page_size": 50}, {"page_size": 47}, {}} {
			seen, m := make(map[string]bool), s.model(reader)
			for arguments := size; ; {
				message := map[string]any{
					"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "read_posts", "arguments": arguments},
				}
				got := s.send(http.MethodPost, path, reader.Token, message, "Accept", "application/json, text/event-stream", version, "2025-11-25")
				require.LessOrEqual(t, len(got.raw), 1<<20)
				page := m.call("read_posts", arguments)
				for _, post := range page["posts"].([]any) {
					id := post.(map[string]any)["id"].(string)
					require.False(t, seen[id], "a record comes twice")
					seen[id] = true
				}
				if page["next_page"] == nil {
					break
				}
				arguments = changed(map[string]any{"page": page["next_page"]}, size)
			}
			require.Equal(t, want, seen, "%s %v", path, size)
		}
	}
}

// A fifth call of an agent at once is refused; notifications and other agents' calls are not.
func TestToolCallsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	busy, other := s.Agent(), s.Agent()
	locked, err := s.DB.SQL.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer locked.Rollback() // it may have failed before
	_, err = locked.ExecContext(t.Context(),
		"SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	call := func(tool string) map[string]any {
		return map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool}}
	}
	var waiting sync.WaitGroup
	var enough atomic.Bool
	for range 4 {
		waiting.Go(func() {
			for !enough.Load() { // a call gives up after a few seconds
				s.message(busy, call("friends"))
			}
		})
	}
	var fifth *answer
	require.Eventually(t, func() bool {
		fifth = s.message(busy, call("me"))
		return fifth.status != http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	fifth.fault(http.StatusTooManyRequests, fault.RateLimited)
	require.Equal(t, "1", fifth.header.Get("Retry-After"))
	require.Equal(t, http.StatusAccepted, s.message(busy, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).status)
	s.message(other, call("me")).ok(http.StatusOK)
	enough.Store(true)
	require.NoError(t, locked.Rollback())
	waiting.Wait()
	s.message(busy, call("me")).ok(http.StatusOK)
}
