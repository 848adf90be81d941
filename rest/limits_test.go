package rest_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/slack"
	"stoa/rest"
)

// stuck returns the number of connections that wait for a lock.
func (s *site) stuck() int64 {
	return s.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
}

// Hanging anonymous searches take only connections of the read pool, and after a moment only the connection for long searches:
// others can search meanwhile. Each hanging search ends with a fault.
func TestSearchesThatHangDelayNoOtherRequest(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t).withAgent()
	lock := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
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

func TestWallet(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for path, queries := range map[string][]string{
		"/wallet":         {"?x=1", "?x", "?limit=1", "?before=1", "?page=1", "?=", "?%ff=1", "?%zz", "?a;b"},
		"/wallet/history": {"?x=1", "?Limit=1", "?limit=1&page=1", "?limit=", "?before=", "?before=0", "?limit=101", "?limit=1&limit=1", "?limit=1&%zz"},
	} {
		for _, query := range queries {
			s.get(agent, path+query).fault(fault.InvalidInput)
		}
	}
}

// rate sends a rating of an order.
func (s *trade) rate(by *graphtest.Agent, orderID any, members object) *answer {
	s.t.Helper()
	return s.post(by, "/orders/"+orderID.(string)+"/rating", changed(object{"operation_id": uuid.NewString(), "stars": 4, "text": "On time."}, members))
}

// told returns the payloads of an agent's events of one kind, in a version of the channel.
func (s *site) told(agent *graphtest.Agent, version, kind string) (payloads []object) {
	s.t.Helper()
	for _, e := range s.get(agent, "/events?limit=100&version="+version).ok(200)["events"].([]any) {
		if event := e.(object); event["kind"] == kind {
			payloads = append(payloads, event["payload"].(object))
		}
	}
	return payloads
}

// processes are two server processes with the limits of §8 and one database. They trust proxies at 127.0.0.1.
func processes(t *testing.T, world *graphtest.World) [2]*site {
	t.Helper()
	var both [2]*site
	for i := range both {
		pool := graphtest.Got(db.Open(world.URL, db.Options{Connections: 4}))(t)
		t.Cleanup(func() { require.NoError(t, pool.Close()) })
		g := graph.New(graph.Config{DB: pool, Quotas: limits.Defaults(), TokenTTL: 720 * time.Hour})
		both[i] = serve(t, &graphtest.World{Graph: g, DB: pool, URL: world.URL}, rest.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	}
	return both
}

// Limits on the number of acts have the figures of §8: all processes together allow that number, and each process refuses one
// more.
func TestLimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		figure  int
		prepare func(*graphtest.World) (act func(*site, int) *answer)
		code    fault.Code
	}{
		"mutations": {120, func(w *graphtest.World) func(*site, int) *answer {
			agent := w.Agent()
			return func(s *site, _ int) *answer { return s.patch(agent, "/bots/me", `{"bio":"x"}`) }
		}, fault.WriteLimited},
		"contact requests": {10, func(w *graphtest.World) func(*site, int) *answer {
			agent := w.Agent()
			return func(s *site, _ int) *answer {
				return s.post(agent, "/contacts/requests", object{"recipient_id": w.Agent().ID})
			}
		}, fault.RateLimited},
		"messages": {60, func(w *graphtest.World) func(*site, int) *answer {
			one, other := w.Friends()
			return func(s *site, _ int) *answer { return s.post(one, messagesPath, envelope(one, other)) }
		}, fault.RateLimited},
		"registrations of an address": {10, func(*graphtest.World) func(*site, int) *answer {
			return func(s *site, n int) *answer {
				return s.send("POST", "/api/v1/bots/register", "", registration(fmt.Sprint("newcomer_", n)), "X-Forwarded-For", "192.0.2.1")
			}
		}, fault.RegistrationLimited},
		"registrations": {100, func(*graphtest.World) func(*site, int) *answer {
			return func(s *site, n int) *answer {
				return s.send("POST", "/api/v1/bots/register", "", registration(fmt.Sprint("newcomer_", n)), "X-Forwarded-For", fmt.Sprint("192.0.2.", n))
			}
		}, fault.RegistrationLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := graphtest.New(t)
			both, act := processes(t, world), c.prepare(world)
			for n := range c.figure {
				require.Less(t, act(both[n%2], n).status, 300)
			}
			for n, s := range both {
				refused := act(s, c.figure+n).refused(c.code)
				require.Contains(t, refused.header.Get("RateLimit-Policy"), fmt.Sprintf(";q=%d;", c.figure))
				require.Contains(t, refused.header.Get("RateLimit"), ";r=0;")
			}
		})
	}
}
