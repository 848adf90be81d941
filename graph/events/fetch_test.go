package events_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/db"
)

const soon = time.Millisecond

func tell(t *testing.T, w *graphtest.World, list ...events.Event) {
	t.Helper()
	require.NoError(t, w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error { return w.Events.Add(ctx, tx, list...) }))
}

func order(to *graphtest.Agent, version int) events.Event {
	return events.Event{Recipient: to.ID, Kind: events.OrderChanged, Payload: events.OrderPayload{OrderID: to.ID, Status: "funded", Version: version}}
}

func cursor(of *graphtest.Agent, size int) events.Cursor {
	return events.Cursor{Recipient: of.ID, Version: events.FirstVersion, Size: size}
}

// fetch reads the batch of a cursor.
func fetch(t *testing.T, w *graphtest.World, of events.Cursor) events.Batch {
	t.Helper()
	return graphtest.Got(w.Events.Fetch(t.Context(), of))(t)
}

// A connection of version 1 gets the payloads of version 1.
func TestAnEarlierVersionGetsItsPayloads(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one := w.Agent()
	tell(t, w, events.Event{Recipient: one.ID, Kind: events.ContactRequested, Payload: events.ContactPayload{Resembles: []string{}}},
		events.Event{Recipient: one.ID, Kind: events.OrderChanged, Payload: events.OrderPayload{Action: "accept", ActorID: uuid.New()}})
	for version, has := range map[int]bool{events.FirstVersion: false, events.LatestVersion: true} {
		of := cursor(one, 16)
		of.Version = version
		found := fetch(t, w, of)
		require.Len(t, found.Events, 2)
		require.Equal(t, has, strings.Contains(string(found.Events[0].Frame()), `"resembles":[]`))
		require.Equal(t, has, strings.Contains(string(found.Events[1].Frame()), `"actor_id"`))
	}
}

func TestABatchHoldsTheEventsBehindItsCursor(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, none := w.Agent(), w.Agent(), w.Agent()
	tell(t, w, order(one, 1), order(other, 2), order(one, 3))
	require.Equal(t, events.Batch{}, fetch(t, w, cursor(none, 1)))
	require.Len(t, fetch(t, w, cursor(other, 16)).Events, 1)
	part, all := fetch(t, w, cursor(one, 1)), fetch(t, w, cursor(one, 16))
	require.True(t, part.More)
	require.Len(t, all.Events, 2)
	require.False(t, all.More)
	first := part.Events[0]
	require.JSONEq(t, `{"type":"event","event_id":"`+first.ID.String()+`","kind":"order.changed","payload":{"order_id":"`+one.ID.String()+`","status":"funded","version":1}}`,
		string(first.Frame()))
	require.Equal(t, first, all.Events[0])

	// Known events come without their frames; events up to After do not come.
	known, after := cursor(one, 16), cursor(one, 16)
	known.Known, after.After = first.Sequence, first.Sequence
	read := fetch(t, w, known)
	require.Equal(t, events.Queued{ID: first.ID, Sequence: first.Sequence}, read.Events[0])
	require.Equal(t, all.Events[1:], read.Events[1:])
	read = fetch(t, w, after)
	require.Equal(t, all.Events[1:], read.Events)
	require.Equal(t, read.Events[0].Sequence, read.Last)
}

func TestEventsThatCannotBeDeliveredMakeRoom(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("DELETE FROM events")
	for range 5 {
		w.Sent(one, other)
	}
	tell(t, w, order(other, 1))
	w.Exec("UPDATE messages SET expires_at = stoa_now()")
	batch := fetch(t, w, cursor(other, 5))
	require.Empty(t, batch.Events)
	require.True(t, batch.More)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
	require.Len(t, fetch(t, w, cursor(other, 5)).Events, 1)
}

func TestMessagesThatMayNotBeDelivered(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, third := w.Agent(), w.Agent(), w.Agent()
	w.Befriend(one, other)
	blocked := w.Befriend(one, third)
	w.Exec("DELETE FROM events")
	w.Sent(one, other) // expires first
	w.Shift(time.Hour)
	kept := []*messages.Card{w.Sent(one, other), w.Sent(one, other)}
	w.Sent(one, third)
	w.Exec("UPDATE contacts SET state = 'blocked', blocked_by = recipient_id WHERE id = $1", blocked)
	w.Shift(messages.Retention - time.Hour)
	batch := fetch(t, w, cursor(other, 16))
	require.Empty(t, fetch(t, w, cursor(third, 16)).Events)
	require.Len(t, batch.Events, 2)
	for i, sent := range kept {
		require.Contains(t, string(batch.Events[i].Frame()), sent.ID.String())
	}
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM events"), "the other two are deleted")
}

func TestMessagesOfKnownEventsAreNotRead(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("DELETE FROM events")
	w.Sent(one, other)
	w.Sent(one, other)
	both := fetch(t, w, cursor(other, 2)).Events
	require.Len(t, both, 2)
	require.Contains(t, string(both[0].Frame()), `"message":{"id"`)
	again := cursor(other, 2)
	again.Known = both[0].Sequence
	w.Exec("UPDATE messages SET expires_at = stoa_now() WHERE id = (SELECT message_id FROM events ORDER BY sequence LIMIT 1)")
	read := fetch(t, w, again).Events
	require.Equal(t, events.Queued{ID: both[0].ID, Sequence: both[0].Sequence}, read[0], "it is not deleted, because nothing of it was read")
	require.Equal(t, both[1], read[1])
}

// The statement reads the rows of the batch, however many events are in flight before it.
func TestRowsReadForABatchDoNotGrowWithEventsInFlight(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	const insert = `INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now(), $1, 'order.changed', '{}' FROM generate_series(1, $2)`
	w.Exec(insert, one.ID, 20_000)
	w.Exec("ANALYZE events")
	for inFlight := range events.WindowSize {
		if inFlight%50 != 0 {
			w.Exec(insert, other.ID, 1)
			continue
		}
		last := w.Count("SELECT max(sequence) FROM events")
		w.Exec(insert, other.ID, 1)
		skipOwn := inFlight%100 == 0
		require.EqualValues(t, 1, w.RowsRead("events", graphtest.Statement("fetch_events"),
			other.ID, inFlight%200 == 0, last, last, 16, skipOwn, string(events.OrderChanged)), "with %d in flight", inFlight)
	}
}

// Version 1 has its five kinds, and reads no event of another, however many wait before them.
func TestTheFirstVersionReadsItsKindsAlone(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one := w.Agent()
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now(), $1, 'task.responded', '{}' FROM generate_series(1, 10000)`, one.ID)
	w.Exec("ANALYZE events")
	for _, kind := range events.Kinds() {
		tell(t, w, events.Event{Recipient: one.ID, Kind: events.Kind(kind), Payload: events.OrderPayload{}})
	}
	var kinds []events.Kind
	for _, e := range fetch(t, w, cursor(one, 16)).Events {
		kinds = append(kinds, e.Kind)
	}
	require.Equal(t, []events.Kind{
		events.ContactRequested, events.ContactAccepted, events.ContactBlocked, events.MessageCreated, events.OrderChanged,
	}, kinds)
	require.EqualValues(t, 5, w.RowsRead("events", graphtest.Statement("fetch_events"), one.ID, true, 0, 0, 16, true, string(events.OrderChanged)))
	require.EqualValues(t, 16, w.RowsRead("events", graphtest.Statement("fetch_events"), one.ID, false, 0, 0, 16, true, string(events.OrderChanged)))
}

func TestOnlyTheRecipientAcknowledges(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	tell(t, w, order(one, 1), order(one, 2))
	first := fetch(t, w, cursor(one, 5)).Events[0].ID
	var acknowledged []uuid.UUID
	w.Events.Acknowledged = func(recipient uuid.UUID, ids []uuid.UUID) {
		require.Equal(t, one.ID, recipient)
		acknowledged = append(acknowledged, ids...)
	}
	acknowledge := func(recipient *graphtest.Agent, ids ...uuid.UUID) []uuid.UUID {
		return graphtest.Got(w.Events.Acknowledge(t.Context(), recipient.ID, ids))(t)
	}
	require.Empty(t, acknowledge(other, first))
	require.Empty(t, acknowledge(one, uuid.New()))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM events"))
	require.Equal(t, []uuid.UUID{first}, acknowledge(one, first, first))
	require.Empty(t, acknowledge(one, first))
	require.Equal(t, []uuid.UUID{first}, acknowledged, "the connections are notified once")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
}

func TestMain(m *testing.M) {
	graphtest.Checks(30)
	m.Run()
}
