package events_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/db"
	"stoa/graph/events"
	"stoa/graph/graphtest"
)

func tell(t *testing.T, w *graphtest.World, list ...events.Event) {
	t.Helper()
	require.NoError(t, w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error { return w.Events.Add(ctx, tx, list...) }))
}

func order(to *graphtest.Agent, version int) events.Event {
	return events.Event{Recipient: to.ID, Kind: events.OrderChanged, Payload: events.OrderPayload{OrderID: to.ID, Status: "funded", Version: version}}
}

func window(of *graphtest.Agent, size int, sent ...uuid.UUID) events.Window {
	return events.Window{Recipient: of.ID, Version: events.FirstVersion, Size: size, Sent: func(id uuid.UUID) bool { return slices.Contains(sent, id) }}
}

func TestWindowsOfManyAgentsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, none := w.Agent(), w.Agent(), w.Agent()
	tell(t, w, order(one, 1), order(other, 2), order(one, 3))
	views, err := w.Events.Look(t.Context(), []events.Window{window(one, 1), window(none, 1), window(other, 16), window(one, 16)})
	require.NoError(t, err)
	require.Len(t, views, 4)
	require.True(t, views[0].More)
	require.Equal(t, events.View{}, views[1])
	require.Len(t, views[2].Pending, 1)
	require.Len(t, views[3].Pending, 2)
	require.False(t, views[3].More)
	first := views[0].Pending[0]
	require.JSONEq(t, `{"type":"event","event_id":"`+first.ID.String()+`","kind":"order.changed","payload":{"order_id":"`+one.ID.String()+`","status":"funded","version":1}}`,
		string(first.Frame))
	require.Equal(t, first, views[3].Pending[0])

	// What was sent is shown without its frame; what comes after a sequence leaves out what is before.
	after := window(one, 16)
	after.After = first.Sequence
	views, err = w.Events.Look(t.Context(), []events.Window{window(one, 16, first.ID), after})
	require.NoError(t, err)
	require.Nil(t, views[0].Pending[0].Frame)
	require.NotNil(t, views[0].Pending[1].Frame)
	require.Len(t, views[1].Pending, 1)
	require.Equal(t, views[0].Pending[1], views[1].Pending[0])
	require.Equal(t, views[1].Pending[0].Sequence, views[1].Last)
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
	views, err := w.Events.Look(t.Context(), []events.Window{window(other, 5)})
	require.NoError(t, err)
	require.Empty(t, views[0].Pending)
	require.True(t, views[0].More)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
	views, err = w.Events.Look(t.Context(), []events.Window{window(other, 5)})
	require.NoError(t, err)
	require.Len(t, views[0].Pending, 1)
}

func TestMessagesInFlightAreNotReadAgain(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("DELETE FROM events")
	w.Sent(one, other)
	w.Sent(one, other)
	look := func(of events.Window) []events.Pending {
		views, err := w.Events.Look(t.Context(), []events.Window{window(one, 1), of})
		require.NoError(t, err)
		require.Len(t, views[1].Pending, 2)
		return views[1].Pending
	}
	both := look(window(other, 2))
	require.Contains(t, string(both[0].Frame), `"message":{"id"`)
	again := window(other, 2, both[0].ID)
	again.Pending = []uuid.UUID{both[0].ID}
	w.Exec("UPDATE messages SET expires_at = stoa_now() WHERE id = (SELECT message_id FROM events ORDER BY sequence LIMIT 1)")
	shown := look(again)
	require.Equal(t, events.Pending{ID: both[0].ID, Sequence: both[0].Sequence}, shown[0], "what is in flight stays there")
	require.Equal(t, both[1], shown[1])
}

func TestOnlyTheRecipientAcknowledges(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	tell(t, w, order(one, 1), order(one, 2))
	views, err := w.Events.Look(t.Context(), []events.Window{window(one, 5)})
	require.NoError(t, err)
	first := views[0].Pending[0].ID
	require.NoError(t, w.Events.Acknowledge(t.Context(), []events.Ack{{Recipient: other.ID, EventID: first}, {Recipient: one.ID, EventID: uuid.New()}}))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM events"))
	acks := []events.Ack{{Recipient: one.ID, EventID: first}, {Recipient: one.ID, EventID: first}}
	require.NoError(t, w.Events.Acknowledge(t.Context(), acks))
	require.NoError(t, w.Events.Acknowledge(t.Context(), acks))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
}
