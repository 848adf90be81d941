package socket_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// While all slots are taken, an agent without one gets the slot of the youngest connection of an agent with two.
func TestAnAgentWithoutAPlaceTakesTheYoungestSecondOne(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p := h.process(quotas(2, 32))
	agents := make([]*graphtest.Agent, 16)
	firsts, seconds := make([]*client, len(agents)), make([]*client, len(agents))
	for i := range agents {
		agents[i] = h.Agent()
		firsts[i] = p.dial(agents[i].Token)
		firsts[i].quiet()
	}
	for i, agent := range agents {
		seconds[i] = p.dial(agent.Token)
		seconds[i].quiet()
	}
	for i, youngest := range []int{15, 14} {
		came := p.dial(h.Agent().Token)
		came.quiet()
		require.Equal(t, 4429, seconds[youngest].code())
		require.EqualValues(t, 32, h.Count("SELECT count(*) FROM socket_leases"), "%d", i)
		require.EqualValues(t, 32, h.Count("SELECT sum(open) FROM socket_processes"))
	}
	for i := range agents {
		firsts[i].quiet()
		if i < 14 {
			seconds[i].quiet()
		}
	}
	require.Equal(t, 4429, p.dial(agents[15].Token).code(), "it holds one")
}

// The database notifies the process that holds the slot.
func TestAPlaceIsTakenFromAnotherProcess(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	here, there := h.process(quotas(2, 3)), h.process(quotas(2, 3))
	one, other := h.Agent(), h.Agent()
	first := here.dial(one.Token)
	first.quiet()
	second := here.dial(one.Token)
	second.quiet()
	kept := there.dial(other.Token)
	kept.quiet()

	came := there.dial(h.Agent().Token)
	came.quiet()
	require.Equal(t, 4429, second.code())
	for _, c := range []*client{first, kept, came} {
		c.quiet()
	}
	require.Equal(t, 4429, there.dial(h.Agent().Token).code(), "every agent holds one")
	require.EqualValues(t, 3, h.Count("SELECT sum(open) FROM socket_processes"))
}

// Polls and streams take slots and lose them like sockets.
func TestPollsAndStreamsTakePlacesAndLoseThem(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	p := h.process(quotas(2, 4))
	one, other := h.Agent(), h.Agent()
	p.dial(one.Token).quiet()
	p.dial(other.Token).quiet()
	stream := p.stream(one.Token, "", "")
	waiting := p.polling(other.Token)

	second := h.Agent()
	came := p.stream(second.Token, "", "")
	lost := await(t, waiting)
	require.Equal(t, http.StatusTooManyRequests, lost.status, "%s", lost.raw)
	require.Equal(t, "rate_limited", lost.code(t))
	require.Regexp(t, `^[1-9]\d*$`, lost.header.Get("Retry-After"))

	third := h.Agent()
	answered := make(chan reply, 1)
	go func() { answered <- p.poll(third.Token, "wait=50") }()
	stream.ended()
	p.tell(third, 1)
	require.Equal(t, []int{1}, await(t, answered).page(t).versions())
	p.tell(second, 2)
	require.Equal(t, 2, came.event().version(t))
}
