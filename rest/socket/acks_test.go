package socket_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// An event can be acknowledged by socket or request, whichever way it was received, and is then acknowledged everywhere.
func TestAcksServeEveryMeans(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo(often)
	agent := h.Agent()
	here.tell(agent, 1, 2, 3)
	conn, stream := here.dial(agent.Token), there.stream(agent.Token, "", "")
	ids := conn.gets(1, 2, 3)
	require.Equal(t, ids, stream.gets(1, 2, 3))
	require.Equal(t, ids, there.poll(agent.Token, "").page(t).ids())

	conn.acked(ids[0])
	acked, unknown := there.acknowledge(agent.Token, ids[1], ids[0], strings.ToUpper(ids[1]))
	require.Equal(t, []string{ids[1], ids[0]}, acked, "also what the socket has acknowledged")
	require.Empty(t, unknown)
	conn.acked(ids[1])
	require.Equal(t, []int{3}, here.poll(agent.Token, "").page(t).versions())
	conn.hangUp()
	stream.leave()
	here.stream(agent.Token, "", "").gets(3)
	there.dial(agent.Token).gets(3)
	for range 2 { // repeats have the same answer
		acked, _ = here.acknowledge(agent.Token, ids[2], ids[0])
		require.Equal(t, []string{ids[2], ids[0]}, acked)
	}
	require.Zero(t, h.unacknowledged(agent))
}

func TestOtherEventIDsAreUnknown(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	h.Graph = p.Graph
	agent, stranger := h.friends()
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

	// Event ids of an earlier version do not contain the recipient. While such events exist, the table is read for it.
	id := uuid.NewString()
	h.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload) VALUES ($1, stoa_now(), $2, 'order.changed', '{"version": 1}')`, id, agent.ID)
	acked, unknown = p.acknowledge(agent.Token, id)
	require.Equal(t, []string{id}, acked)
	require.Empty(t, unknown)
	require.Zero(t, h.unacknowledged(agent))
}

// A full window gets the next events when some are acknowledged, by a request or by another connection, on any process.
func TestAFullWindowIsFreed(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo()
	for _, p := range []*process{here, there} {
		for _, free := range []func(agent *graphtest.Agent, ids []string){
			func(agent *graphtest.Agent, ids []string) { here.acknowledge(agent.Token, ids...) },
			func(agent *graphtest.Agent, ids []string) {
				other, _ := here.fill(agent)
				for _, id := range ids {
					other.ack(id)
				}
			},
		} {
			agent := h.Agent()
			here.tell(agent, many(events.WindowSize+5)...)
			full, ids := p.fill(agent)
			free(agent, ids[:10])
			full.gets(after(events.WindowSize, 5)...)
			full.quiet()
		}
	}
}

func TestAcksOfOtherEventsChangeNothing(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	agent, stranger := h.Agent(), h.Agent()
	conn, other := p.dial(agent.Token), p.dial(stranger.Token)
	p.tell(agent, 1)
	p.tell(stranger, 2)
	mine, theirs := conn.next(), other.next()
	other.ack(mine.EventID)
	other.ack(uuid.NewString())
	other.ack("no-such-event")
	other.quiet()
	require.EqualValues(t, 2, h.unacknowledged(agent, stranger))
	other.acked(theirs.EventID)
	conn.ack(mine.EventID) // each ack of an event is answered, also if the id has capitals
	conn.send(` { "event_id" : "` + strings.ToUpper(mine.EventID) + `" , "type" : "ack" } `)
	conn.answer(mine.EventID)
	conn.answer(mine.EventID)
	require.Zero(t, h.unacknowledged(agent, stranger))

	// An event received on an earlier connection does not count as received on this one.
	p.tell(agent, 3)
	late := conn.next()
	conn.acked(late.EventID)
	conn.acked(mine.EventID)
	conn.hangUp()
	again := p.dial(agent.Token)
	again.ack(late.EventID)
	again.quiet()
}

// fill opens a connection and receives a full window of events.
func (p *process) fill(agent *graphtest.Agent) (conn *client, ids []string) {
	p.t.Helper()
	conn = p.dial(agent.Token)
	for range events.WindowSize {
		ids = append(ids, conn.next().EventID)
	}
	conn.quiet()
	return conn, ids
}

func TestAFullWindowIsFreedByABlock(t *testing.T) {
	t.Parallel()
	h, here, there := sharedCluster(t).withTwo()
	h.Graph = here.Graph
	one, other := h.Agent(), h.Agent()
	contact := h.Befriend(one, other)
	h.Exec("DELETE FROM events WHERE recipient_id IN ($1, $2)", one.ID, other.ID)
	for range events.WindowSize {
		h.Sent(one, other)
		h.Sent(other, one)
	}
	near, _ := here.fill(one)
	far, _ := there.fill(other)
	here.tell(one, 1)
	here.tell(other, 2)
	near.quiet()
	far.quiet()
	h.Block(one, contact)
	near.gets(1)
	far.gets(2)
	far.event(events.ContactBlocked)
}

func TestAFullWindowReadsNothing(t *testing.T) {
	t.Parallel()
	_, p, agent := newCluster(t).withAgent()
	p.tell(agent, many(events.WindowSize)...)
	conn, ids := p.fill(agent)
	before := p.hub.Fetched()
	for version := range 10 {
		p.tell(agent, events.WindowSize+1+version)
		woken := graphtest.Got(p.Events.WakeWaiting(agent.Ctx))(t)
		require.Equal(t, 1, woken)
	}
	conn.quiet()
	require.Equal(t, before, p.hub.Fetched())
	conn.ack(ids[0])
	for range 2 {
		if f := conn.next(); f.Type == "event" {
			require.Equal(t, events.WindowSize+1, f.version())
		}
	}
}

func TestAcksAreAnsweredOnceTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	conn := p.dial(agent.Token)
	p.tell(agent, 1)
	id := conn.next().EventID
	restore := h.Outage()
	conn.ack(id)
	conn.ack(id)
	conn.quiet()
	require.Eventually(t, func() bool { return !p.isLinked() }, slack.TestWait, time.Millisecond)
	require.Equal(t, 1013, p.dial(agent.Token).code())
	restore()
	conn.answer(id)
	conn.answer(id)
	p.linked()
	p.tell(agent, 2)
	conn.gets(2)
}
