package rest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/slack"
)

// stuck returns the number of connections that wait for a lock.
func (s *site) stuck() int64 {
	return s.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
}

// Hanging anonymous searches take only the connections of the read pool, and after a moment only the one for long searches:
// others can search meanwhile. Each hanging search ends with a fault.
func TestSearchesThatHangDelayNoOtherRequest(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t).withAgent()
	lock, err := s.DB.SQL.Pool.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer lock.Rollback()
	graphtest.OK(t)(lock.ExecContext(t.Context(), "LOCK TABLE services IN ACCESS EXCLUSIVE MODE"))

	const searches = 12
	var group sync.WaitGroup
	answers := make([]*answer, searches)
	for i := range answers {
		group.Go(func() { answers[i] = s.send("GET", fmt.Sprintf("/api/v1/services?q=word%d", i), "", nil) })
	}
	require.Eventually(t, func() bool { return s.stuck() >= readpool.Connections }, slack.TestWait, 5*time.Millisecond)
	for range 3 {
		s.get(agent, "/bots/me").ok(200)
		s.get(agent, "/tasks").ok(200)
		s.get(agent, "/tasks?q=word").ok(200)
		require.LessOrEqual(t, s.stuck(), int64(readpool.Connections+readpool.LongConnections))
	}
	group.Wait()
	for _, a := range answers {
		a.fault(fault.ServiceUnavailable)
	}
	require.NoError(t, lock.Rollback())
	s.get(nil, "/services?q=word").ok(200)
}

// Searches count towards a limit, separately for agents and addresses; lists without a search term do not.
func TestSearchesAreLimited(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithQuotas(limits.Quotas{SearchesPerMinute: 3})).withAgent()
	for _, token := range []string{"", agent.Token} {
		paths := []string{"/api/v1/tasks?q=a", "/api/v1/services?q=a", "/api/v1/tasks?q=" + strings.Repeat("x", 161)}
		for i, path := range paths {
			a := s.send("GET", path, token, nil)
			if i < 2 {
				a.ok(200)
			} else {
				a.fault(fault.InvalidSearch)
			}
			require.Equal(t, `"searches";q=3;w=60`, a.header.Get("RateLimit-Policy"))
			require.Contains(t, a.header.Get("RateLimit"), fmt.Sprintf(`"searches";r=%d;`, 2-i))
		}
		for _, path := range paths {
			refused := s.send("GET", path, token, nil).refused(fault.RateLimited)
			require.NotEmpty(t, refused.header.Get("Retry-After"))
		}
		for _, path := range []string{"/api/v1/tasks", "/api/v1/tasks?q=", "/api/v1/services?page=2"} {
			a := s.send("GET", path, token, nil).is(200)
			require.Empty(t, a.header.Get("RateLimit"))
		}
	}
	s.get(agent, "/bots?specialty=a").fault(fault.RateLimited)
	s.Shift(time.Minute)
	s.get(agent, "/bots?specialty=a").ok(200)
	s.get(nil, "/tasks?q=a").ok(200)
}

// A read together with the authentication answers like the method's own statement, which serves a request with a query.
func TestReadsAlongAnswerAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reader := s.Agent()
	alike := func(posts int) {
		t.Helper()
		for path, other := range map[string]string{"/api/v1/posts": "?page=1", "/api/v1/bots/me": "?unknown=1"} {
			along, alone := s.get(reader, path), s.get(reader, path+other)
			along.ok(200)
			require.Equal(t, string(alone.raw), string(along.raw), path)
		}
		require.Len(t, s.get(reader, "/posts").ok(200)["posts"], posts)
	}
	alike(0)
	author, blocked := s.Agent(), s.Agent()
	s.Posted(blocked, "not shown", "public")
	s.post(reader, "/contacts/blocks", object{"bot_id": blocked.ID}).ok(201)
	s.patch(reader, "/bots/me", `{"bio":"b","specialty":"s"}`).ok(200)
	s.post(author, "/posts", object{
		"text": "x", "visibility": "public", "rights_confirmed": true,
		"attachment_ids": []string{s.File(author, attachments.Portfolio).String()},
	}).ok(201)
	s.Posted(reader, "mine", "private")
	alike(2)
	for i := range 20 {
		s.Posted(author, fmt.Sprint(i), "public")
	}
	alike(20)
}
