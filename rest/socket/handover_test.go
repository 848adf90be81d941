package socket_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// newChat returns a process that is alone, and two friends without events.
func newChat(t *testing.T) (h *cluster, p *process, sender, recipient *graphtest.Agent) {
	t.Helper()
	h = newCluster(t)
	p = h.process()
	p.alone()
	sender, recipient = h.Agent(), h.Agent()
	h.Befriend(sender, recipient)
	h.Exec("DELETE FROM events WHERE recipient_id IN ($1, $2)", sender.ID, recipient.ID)
	return h, p, sender, recipient
}

func (p *process) write(sender, recipient *graphtest.Agent) {
	p.t.Helper()
	_, err := p.Messages.SendMessage(sender.Ctx, graphtest.Envelope(sender, recipient))
	require.NoError(p.t, err)
}

// handedOver writes to a friend until a message came on its connections without being read, and returns what came. A connection whose
// last event is still being sent reads the next one.
func (p *process) handedOver(sender, recipient *graphtest.Agent, conns ...*client) (came arrival) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		before := p.hub.Fetched()
		p.write(sender, recipient)
		for i, conn := range conns {
			a := conn.arrive()
			require.NoError(p.t, a.err)
			require.True(p.t, i == 0 || string(a.raw) == string(came.raw))
			came = a
		}
		return p.hub.Fetched() == before
	}, slack.TestWait, time.Millisecond)
	return came
}

// A process that is alone sends a message as it was stored, without reading it. A connection that reads the event gets the same bytes.
func TestAMessageIsHandedOver(t *testing.T) {
	t.Parallel()
	_, p, sender, recipient := newChat(t)
	conn, second := p.dial(recipient.Token), p.dial(recipient.Token, "stoa.events.v2")
	handed := p.handedOver(sender, recipient, conn, second)
	conn.hangUp()
	third := p.dial(recipient.Token)
	for read := third.arrive(); string(read.raw) != string(handed.raw); read = third.arrive() {
		require.NoError(t, read.err)
	}
	third.quiet()
	second.quiet()
}

// While there is another process the event is read, because one of that process may have to come first.
func TestAMessageIsReadWhereThereAreOtherProcesses(t *testing.T) {
	t.Parallel()
	h, p, sender, recipient := newChat(t)
	other := h.process()
	require.Eventually(t, func() bool { return !p.hub.Alone() }, slack.TestWait, time.Millisecond)
	conn := p.dial(recipient.Token)
	conn.quiet()
	before := p.hub.Fetched()
	p.write(sender, recipient)
	conn.event(events.MessageCreated)
	require.Less(t, before, p.hub.Fetched())
	other.kill()
	p.alone()
	p.handedOver(sender, recipient, conn)
}

// A message does not overtake the events before it, on a connection that has just opened or whose window is full.
func TestAMessageWaitsForTheEventsBeforeIt(t *testing.T) {
	t.Parallel()
	_, p, sender, recipient := newChat(t)
	p.tell(recipient, many(events.WindowSize)...)
	conn := p.dial(recipient.Token)
	p.write(sender, recipient)
	first := conn.event(events.OrderChanged)
	for range events.WindowSize - 1 {
		conn.event(events.OrderChanged)
	}
	conn.quiet()
	p.write(sender, recipient)
	conn.quiet()
	conn.ack(first.EventID)
	conn.answer(first.EventID)
	conn.event(events.MessageCreated)
	conn.quiet()
}

// Nor does it overtake an event whose notice was lost, as where the process that stored it could not reach this one.
func TestAMessageWaitsForAnEventThatWasNotNoticed(t *testing.T) {
	t.Parallel()
	h, p, sender, recipient := newChat(t)
	conn := p.dial(recipient.Token)
	p.handedOver(sender, recipient, conn)
	p.withoutWakeUps(&events.API{DB: h.DB, Wake: func([]uuid.UUID) {}}).tell(recipient, 1)
	conn.quiet()
	p.write(sender, recipient)
	conn.event(events.OrderChanged)
	conn.event(events.MessageCreated)
	p.handedOver(sender, recipient, conn)
}
