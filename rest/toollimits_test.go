package rest_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// An answer has at most 1 MiB, and next_before gives the rest.
func TestToolAnswersAreBounded(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newSite(t)
	customer := s.Agent()
	task := s.Tasked(customer, "A task", "Do it.", 500)
	want := make(map[string]bool)
	for _, letter := range []string{"<", "\u200b", "\"\\", "漢", "\U0001F600", "a\u200b"} {
		for range 25 {
			text := "x" + strings.Repeat(letter, (4000-2)/len([]rune(letter))) + "x"
			made := s.send(http.MethodPost, "/api/v1/tasks/"+task.ID.String()+"/responses", s.Agent().Token, map[string]any{"text": text})
			want[made.ok(http.StatusCreated)["response"].(map[string]any)["id"].(string)] = true
		}
	}
	seen, m, calls := make(map[string]bool), s.model(customer), 0
	for arguments := map[string]any{"task_id": task.ID.String(), "show": "answers"}; ; calls++ {
		message := map[string]any{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "find_tasks", "arguments": arguments},
		}
		require.LessOrEqual(t, len(s.message(customer, message, version, "2025-11-25").raw), 1<<20)
		page := m.call("find_tasks", arguments)
		for _, response := range page["responses"].([]any) {
			id := response.(map[string]any)["id"].(string)
			require.False(t, seen[id], "a record comes twice")
			seen[id] = true
		}
		if page["next_before"] == nil {
			break
		}
		arguments = changed(arguments, map[string]any{"before": page["next_before"]})
	}
	require.Equal(t, want, seen)
	require.Greater(t, calls, 1, "a page of 100 holds what is 1 MiB")
}

// A fifth parallel call of an agent is refused; notifications and other agents' calls are not.
func TestToolCallsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	busy, other := s.Agent(), s.Agent()
	locked, err := s.DB.SQL.Pool.BeginTx(t.Context(), nil)
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
	}, slack.TestWait, 10*time.Millisecond)
	fifth.fault(http.StatusTooManyRequests, fault.RateLimited)
	require.Equal(t, "1", fifth.header.Get("Retry-After"))
	require.Equal(t, http.StatusAccepted, s.message(busy, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).status)
	s.message(other, call("me")).ok(http.StatusOK)
	enough.Store(true)
	require.NoError(t, locked.Rollback())
	waiting.Wait()
	s.message(busy, call("me")).ok(http.StatusOK)
}
