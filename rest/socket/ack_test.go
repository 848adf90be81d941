package socket_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
)

func TestAckingTwiceIsAnsweredTwice(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.process()
	agent := h.Agent()
	conn := p.dial(agent.Token)
	p.tell(agent, 1, 2)
	first, second := conn.next(), conn.next()
	conn.ack(first.EventID)
	conn.ack(first.EventID)
	conn.answer(first.EventID)
	conn.answer(first.EventID)
	conn.acked(second.EventID)
	conn.acked(first.EventID)
	require.Zero(t, h.Count("SELECT count(*) FROM events"))
}

func TestAnIDMayBeSpelledInCapitals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.process()
	agent := h.Agent()
	conn := p.dial(agent.Token)
	p.tell(agent, 1)
	id := conn.next().EventID
	conn.send(` { "event_id" : "` + toUpper(id) + `" , "type" : "ack" } `)
	conn.answer(id)
}

func TestAcksOfWhatWasNotReceivedChangeNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.process()
	agent, stranger := h.Agent(), h.Agent()
	conn, other := p.dial(agent.Token), p.dial(stranger.Token)
	p.tell(agent, 1)
	p.tell(stranger, 2)
	mine, theirs := conn.next(), other.next()
	other.ack(mine.EventID)
	other.ack(uuid.NewString())
	other.ack("no-such-event")
	other.quiet()
	require.EqualValues(t, 2, h.Count("SELECT count(*) FROM events"))
	other.acked(theirs.EventID)
	conn.acked(mine.EventID)

	// Received on an earlier connection is not received on this one.
	p.tell(agent, 3)
	late := conn.next()
	conn.acked(late.EventID)
	conn.hangUp()
	again := p.dial(agent.Token)
	again.ack(late.EventID)
	again.quiet()
}

func TestAnAckOnOneConnectionServesBoth(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	here, there := h.process(), h.process()
	agent := h.Agent()
	for _, processes := range [][2]*process{{here, here}, {here, there}} {
		one, other := processes[0].dial(agent.Token), processes[1].dial(agent.Token)
		here.tell(agent, 1, 2)
		first, second := one.next(), one.next()
		require.Equal(t, first, other.next())
		require.Equal(t, second, other.next())
		one.acked(first.EventID)
		other.acked(second.EventID)
		// Both were received on both, so both answer; neither comes again anywhere.
		other.acked(first.EventID)
		one.acked(second.EventID)
		one.quiet()
		other.quiet()
		one.hangUp()
		other.hangUp()
		require.Zero(t, h.Count("SELECT count(*) FROM events"))
	}
}

func TestAtMostAWindowIsInFlight(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.process()
	agent := h.Agent()
	const more = 40
	versions := make([]int, events.WindowSize+more)
	for i := range versions {
		versions[i] = i + 1
	}
	p.tell(agent, versions...)
	conn := p.dial(agent.Token)
	var ids []string
	for i := range events.WindowSize {
		f := conn.event(events.OrderChanged)
		require.Equal(t, i+1, f.version())
		ids = append(ids, f.EventID)
	}
	conn.quiet()
	p.tell(agent, len(versions)+1)
	conn.quiet()
	// Each place that an ack makes is filled with the next in order.
	for i := range more {
		conn.ack(ids[i])
		answered, version := false, 0
		for !answered || version == 0 {
			f := conn.next()
			if f.Type == "acked" {
				require.Equal(t, ids[i], f.EventID)
				answered = true
			} else {
				version = f.version()
			}
		}
		require.Equal(t, events.WindowSize+i+1, version)
	}
	require.EqualValues(t, events.WindowSize+1, h.Count("SELECT count(*) FROM events"))
}

func TestAFullWindowIsFreedByTheOtherConnection(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	here, there := h.process(), h.process()
	agent := h.Agent()
	versions := make([]int, events.WindowSize+5)
	for i := range versions {
		versions[i] = i + 1
	}
	here.tell(agent, versions...)
	full := there.dial(agent.Token)
	for range events.WindowSize {
		full.event(events.OrderChanged)
	}
	full.quiet()
	h.Exec("DELETE FROM events WHERE sequence <= (SELECT min(sequence) + 9 FROM events)")
	// What nobody told of is found by the job that wakes who waits.
	woken, err := here.Events.WakeWaiting(agent.Ctx)
	require.NoError(t, err)
	require.Equal(t, 1, woken)
	for i := range 5 {
		require.Equal(t, events.WindowSize+1+i, full.event(events.OrderChanged).version())
	}
	full.quiet()
}

func TestAcksAreAnsweredOnceTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.process()
	agent := h.Agent()
	conn := p.dial(agent.Token)
	p.tell(agent, 1)
	id := conn.next().EventID
	restore := h.Outage()
	conn.ack(id)
	conn.ack(id)
	conn.quiet()
	require.Eventually(t, func() bool { return !p.hub.Stats().Linked }, patience, time.Millisecond)
	require.Equal(t, 1013, p.dial(agent.Token).code())
	restore()
	conn.answer(id)
	conn.answer(id)
	p.linked()
	p.tell(agent, 2)
	require.Equal(t, 2, conn.event(events.OrderChanged).version())
}
