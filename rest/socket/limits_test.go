package socket_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/rest/socket"
)

// The limits of §8 count over all processes: two connections of an agent, and 32 in all.
func TestConnectionLimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	h, full := newCluster(t), newCluster(t)
	defaults := func(c *socket.Config) { c.Quotas = limits.Defaults() }
	both := []*process{h.process(defaults), h.process(defaults)}
	var agents [15]*graphtest.Agent
	for i := range agents {
		agents[i] = h.Agent()
		for _, p := range both {
			p.dial(agents[i].Token).quiet()
		}
	}
	var group sync.WaitGroup
	for _, agent := range agents {
		group.Go(func() { require.Equal(t, 4429, both[0].dial(agent.Token).code(), "a third of the agent") })
	}
	group.Wait()
	require.EqualValues(t, 30, h.Count("SELECT count(*) FROM socket_leases"))

	both = []*process{full.process(defaults), full.process(defaults)}
	for i := range 32 {
		both[i%2].dial(full.Agent().Token).quiet()
	}
	for _, p := range both {
		group.Go(func() {
			require.Equal(t, 4429, p.dial(full.Agent().Token).code(), "the 33rd of all, where nobody has two")
		})
	}
	group.Wait()
	require.EqualValues(t, 32, full.Count("SELECT count(*) FROM socket_leases"))
}

// If the answer to a lease is lost, the process frees the slot, even before PostgreSQL makes the lease.
func TestASlotIsGivenBackWhoseLeaseComesLater(t *testing.T) {
	t.Parallel()
	const (
		locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7061006 AND database = " +
			"(SELECT oid FROM pg_database WHERE datname = current_database())"
		closed = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE '%stoa_close_sockets%'"
		leases = "SELECT count(*) FROM socket_leases"
	)
	h := newCluster(t)
	network := graphtest.NewDatabaseProxy(t, h.URL)
	behind := graphtest.Got(db.Open(network.URL, db.Options{}))(t)
	t.Cleanup(func() { _ = behind.Close() })
	h.outbox = behind
	p, agent := h.process(quotas(1, 0)), h.Agent()
	lock := graphtest.Got(h.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	graphtest.OK(t)(lock.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(7061006)"))

	refused := make(chan int)
	go func() { refused <- p.dial(agent.Token).code() }()
	require.Eventually(t, func() bool { return h.Count(locks) == 2 }, slack.TestWait, time.Millisecond)
	network.Tear()
	require.Equal(t, 1013, <-refused)
	require.Eventually(t, func() bool { return h.Count(closed) > 0 }, slack.TestWait, time.Millisecond)
	require.NoError(t, lock.Commit())
	require.Eventually(t, func() bool { return h.Count(locks) == 0 }, slack.TestWait, time.Millisecond)
	require.Eventually(t, func() bool { return h.Count(leases) == 0 }, slack.TestWait, 10*time.Millisecond)
	p.dial(agent.Token).quiet()
}

// The second version of the channel announces each revision; the first version leaves out only these events.
func TestRecommendationsAreAnnouncedOnTheSecondVersion(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p, other := h.process(), h.process()
	agent, peer := h.Agent(), h.Agent()
	change := func(in bots.UpdateMeInput) {
		t.Helper()
		graphtest.OK(t)(p.Bots.UpdateMe(agent.Ctx, in))
	}
	change(bots.UpdateMeInput{Bio: graphtest.Ptr("I write.")})
	first, second := p.dial(agent.Token), other.dial(agent.Token, "stoa.events.v2")
	payload := func(revision int) map[string]any {
		return map[string]any{"bot_id": agent.ID.String(), "revision": float64(revision)}
	}
	early := second.event(events.ProfileRecommendations)
	require.Equal(t, payload(2), early.Payload)
	second.acked(early.EventID)
	change(bots.UpdateMeInput{Bio: graphtest.Ptr("I write more.")})
	change(bots.UpdateMeInput{Specialty: graphtest.Ptr("odes")})
	live := second.event(events.ProfileRecommendations)
	require.Equal(t, payload(3), live.Payload)

	p.tell(agent, 1)
	first.gets(1)
	second.gets(1)
	first.quiet()
	p.tell(peer, 1) // events of another agent do not arrive here
	second.quiet()

	// Events that the first version left out wait for a connection of the second.
	first.hangUp()
	second.hangUp()
	again := p.dial(agent.Token, "stoa.events.v2")
	require.Equal(t, live, again.event(events.ProfileRecommendations))
}
