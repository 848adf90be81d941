package events_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
)

func TestStaleEventsAreDeleted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, third := w.Agent(), w.Agent(), w.Agent()
	blocked := w.Befriend(one, other)
	w.Befriend(one, third)
	w.Exec("DELETE FROM events")
	announced := w.Sent(one, other)
	w.Sent(one, third)
	// More than a few batches; their last events are suppressed.
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now() - interval '90 days', $1, 'order.changed', '{}' FROM generate_series(1, 4100)`, one.ID)
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now() - interval '89 days', $1, 'order.changed', '{}' FROM generate_series(1, 4100)`, one.ID)
	w.Exec("INSERT INTO events SELECT 'ffffffff-ffff-ffff-ffff-ffffffffffff', created_at, recipient_id, nextval('event_sequence'), kind, payload, contact_id, message_id FROM events WHERE message_id = $1", announced.ID)
	w.Exec("UPDATE contacts SET state = 'blocked', blocked_by = requester_id WHERE id = $1", blocked)
	deleted, err := w.Events.DeleteStale(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4102, deleted)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events WHERE message_id IS NOT NULL"))
	require.EqualValues(t, 4100, w.Count("SELECT count(*) FROM events WHERE message_id IS NULL"))

	w.Exec("DELETE FROM messages")
	w.Shift(events.Retention)
	_, err = w.Events.DeleteStale(t.Context())
	require.NoError(t, err)
	require.Zero(t, w.Count("SELECT count(*) FROM events"))
}
