package socket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// act returns an order.changed event to an agent about an act of this or another agent.
func act(to, actor *graphtest.Agent, version int) events.Event {
	return events.Event{Recipient: to.ID, Kind: events.OrderChanged, Payload: events.OrderPayload{
		OrderID: to.ID, Status: "funded", Version: version, Action: "accept", ActorID: actor.ID,
	}}
}

// ownActs returns n events about the agent's own acts, from version 1 on.
func ownActs(agent *graphtest.Agent, n int) []events.Event {
	list := make([]events.Event, n)
	for i := range list {
		list[i] = act(agent, agent, i+1)
	}
	return list
}

func TestAPollLeavesOutOwnActs(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	agent, other := h.Agent(), h.Agent()
	for version := 1; version <= events.LatestVersion; version++ {
		revision := events.Event{
			Recipient: agent.ID, Kind: events.ProfileRecommendations, Payload: events.RecommendationsPayload{BotID: agent.ID, Revision: 1},
		}
		p.tellEvents(act(agent, agent, 1), act(agent, other, 2), act(agent, agent, 3), orderChanged(agent, 4), act(agent, agent, 5), revision)
		query := fmt.Sprintf("own=false&version=%d&limit=", version)
		require.Equal(t, []int{2}, p.poll(agent.Token, query+"1").page(t).versions())
		found := p.poll(agent.Token, query+"2").page(t)
		require.Len(t, found.Events, 2)
		require.Equal(t, version == events.LatestVersion, found.More, "what comes after the page are own acts and what version 1 leaves out")
		require.EqualValues(t, 3, h.unacknowledged(agent), "own acts are acknowledged, and nothing else")
		all := p.poll(agent.Token, "own=true&version=2").page(t)
		require.Len(t, all.Events, 3, "what was left out does not come again, and what is of no actor or about one's own profile is not own")
		p.acknowledge(agent.Token, all.ids()...)
	}
	// A long series of own acts needs few statements, and hides no event after it.
	p.tellEvents(append(ownActs(agent, 399), act(agent, other, 400), act(agent, agent, 401))...)
	found := p.poll(agent.Token, "own=false&limit=1").page(t)
	require.Equal(t, []int{400}, found.versions())
	require.False(t, found.More)
	require.EqualValues(t, 1, h.unacknowledged(agent))
}

// A poll with own=false acknowledges the events that it leaves out, for every connection, and no others.
func TestAPollThatLeavesOutOwnActsWaits(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo()
	agent, other := h.Agent(), h.Agent()
	here.tellEvents(act(agent, agent, 1))
	answered := make(chan reply, 1)
	go func() { answered <- there.poll(agent.Token, "wait=50&version=2&own=false") }()
	require.Eventually(t, func() bool { return there.figure("stoa_sockets_open") == 1 }, slack.TestWait, time.Millisecond)
	for version := 2; version < 40; version++ {
		here.tellEvents(act(agent, agent, version))
	}
	require.Eventually(t, func() bool { return h.unacknowledged(agent) == 0 }, slack.TestWait, time.Millisecond)
	require.Empty(t, answered, "own acts do not answer a poll that waits")
	require.EqualValues(t, 1, there.figure("stoa_sockets_open"))
	here.tellEvents(act(agent, agent, 40), act(agent, other, 41))
	found := await(t, answered).page(t)
	require.Equal(t, []int{41}, found.versions())
	require.Equal(t, other.ID.String(), found.Events[0].Payload["actor_id"])
	require.False(t, found.More)
}

func TestAStreamLeavesOutOwnActs(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo()
	agent, other := h.Agent(), h.Agent()
	here.tellEvents(append(ownActs(agent, events.WindowSize+20), act(agent, other, 1000))...)
	stream := there.stream(agent.Token, "?version=2&own=false", "")
	stream.gets(1000) // own acts do not count as in flight
	require.EqualValues(t, 1, h.unacknowledged(agent))
	// A socket gets all unacknowledged events; it has no such option.
	conn := here.dial(agent.Token, "stoa.events.v2")
	require.Contains(t, string(conn.arrive().raw), `"version":1000`)
	here.tellEvents(act(agent, agent, 1001), act(agent, other, 1002), act(agent, agent, 1003))
	stream.gets(1002)
	require.Eventually(t, func() bool { return h.unacknowledged(agent) == 2 }, slack.TestWait, time.Millisecond)
	require.Equal(t, []int{1000, 1002}, here.poll(agent.Token, "").page(t).versions())
}

// If a client uses own=false only from its second connection on, its last event or earlier ones may be own acts.
func TestAStreamResumesWithoutOwnActs(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	agent, other := h.Agent(), h.Agent()
	p.tellEvents(act(agent, agent, 1), act(agent, other, 2), act(agent, agent, 3))
	first := p.stream(agent.Token, "", "")
	last := first.gets(1, 2, 3)[2]
	first.leave()
	resumed := p.stream(agent.Token, "?own=false", last)
	p.tellEvents(act(agent, agent, 4), act(agent, other, 5))
	resumed.gets(5)
	require.Eventually(t, func() bool { return h.unacknowledged(agent) == 2 }, slack.TestWait, time.Millisecond)
	require.Equal(t, []int{2, 5}, p.poll(agent.Token, "").page(t).versions())
	resumed.leave()

	// A window full of own acts does not delay later events.
	full := h.Agent()
	p.tellEvents(ownActs(full, events.WindowSize)...)
	window := p.stream(full.Token, "", "")
	last = window.gets(many(events.WindowSize)...)[events.WindowSize-1]
	window.leave()
	behind := p.stream(full.Token, "?own=false", last)
	p.tellEvents(act(full, other, 1000))
	behind.gets(1000)
}
