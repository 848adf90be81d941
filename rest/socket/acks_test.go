package socket_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
)

// An event can be acknowledged by socket or request, however it was received, and is then acknowledged everywhere.
func TestAcksServeEveryMeans(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	here, there := h.process(often), h.process(often)
	agent := h.Agent()
	here.tell(agent, 1, 2, 3)
	conn, stream := here.dial(agent.Token), there.stream(agent.Token, "", "")
	one, two, three := conn.next(), conn.next(), conn.next()
	for _, id := range []string{one.EventID, two.EventID, three.EventID} {
		require.Equal(t, id, stream.event().id)
	}
	require.Equal(t, []string{one.EventID, two.EventID, three.EventID}, there.poll(agent.Token, "").page(t).ids())

	conn.acked(one.EventID)
	acked, unknown := there.acknowledge(agent.Token, two.EventID, one.EventID, toUpper(two.EventID))
	require.Equal(t, []string{two.EventID, one.EventID}, acked, "also what the socket has acknowledged")
	require.Empty(t, unknown)
	conn.acked(two.EventID)
	require.Equal(t, []int{3}, here.poll(agent.Token, "").page(t).versions())
	conn.hangUp()
	stream.leave()
	require.Equal(t, 3, here.stream(agent.Token, "", "").event().version(t))
	again := there.dial(agent.Token)
	require.Equal(t, 3, again.event(events.OrderChanged).version())
	acked, _ = here.acknowledge(agent.Token, three.EventID)
	require.Equal(t, []string{three.EventID}, acked)
	acked, _ = there.acknowledge(agent.Token, three.EventID, one.EventID)
	require.Equal(t, []string{three.EventID, one.EventID}, acked, "however often")
	require.Zero(t, h.unacknowledged(agent))
}

func TestWhatIsNoEventOfTheCallerIsUnknown(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p := h.process()
	h.Graph = p.Graph
	agent, stranger := h.Friends()
	h.Exec("DELETE FROM events WHERE recipient_id IN ($1, $2)", agent.ID, stranger.ID)
	p.tell(stranger, 1)
	h.Sent(agent, stranger)
	theirs := p.poll(stranger.Token, "").page(t).ids()
	none := uuid.NewString()
	acked, unknown := p.acknowledge(agent.Token, theirs[0], none, theirs[1])
	require.Empty(t, acked)
	require.Equal(t, []string{theirs[0], none, theirs[1]}, unknown)
	require.EqualValues(t, 2, h.unacknowledged(stranger))
	acked, unknown = p.acknowledge(stranger.Token, theirs[0], none, theirs[1])
	require.Equal(t, theirs, acked)
	require.Equal(t, []string{none}, unknown)
	_, unknown = p.acknowledge(agent.Token, theirs...)
	require.Equal(t, theirs, unknown, "also once they are gone")
}

// Event ids of an earlier version do not contain the recipient. While such events exist, the table is read for it.
func TestEventsWithOtherIDsAreAcknowledged(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p := h.process()
	agent := h.Agent()
	id := uuid.NewString()
	h.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload) VALUES ($1, stoa_now(), $2, 'order.changed', '{"version": 1}')`, id, agent.ID)
	acked, unknown := p.acknowledge(agent.Token, id)
	require.Equal(t, []string{id}, acked)
	require.Empty(t, unknown)
	require.Zero(t, h.unacknowledged(agent))
}

func TestAFullWindowIsFreedByARequest(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	here, there := h.process(), h.process()
	for _, p := range []*process{here, there} {
		agent := h.Agent()
		here.tell(agent, many(events.WindowSize+5)...)
		full, ids := p.fill(agent)
		here.acknowledge(agent.Token, ids[:10]...)
		for i := range 5 {
			require.Equal(t, events.WindowSize+1+i, full.event(events.OrderChanged).version())
		}
		full.quiet()
	}
}
