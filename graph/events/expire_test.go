package events_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
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
	deleted := graphtest.Got(w.Events.DeleteStale(t.Context()))(t)
	require.EqualValues(t, 4102, deleted)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events WHERE message_id IS NOT NULL"))
	require.EqualValues(t, 4100, w.Count("SELECT count(*) FROM events WHERE message_id IS NULL"))

	w.Exec("DELETE FROM messages")
	w.Shift(events.Retention)
	graphtest.OK(t)(w.Events.DeleteStale(t.Context()))
	require.Zero(t, w.Count("SELECT count(*) FROM events"))
}

// A batch of the cleanup reads only its own events and their rows in other tables. The oldest event is found without reading all
// events.
func TestRowsReadForStaleEventsDoNotGrowWithEvents(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("DELETE FROM events")
	const total, messages, batch = 50_000, 20_000, 2000
	w.Exec(`INSERT INTO messages SELECT gen_random_uuid(), created_at, contact_id, sender_id, recipient_id, gen_random_uuid(), encryption_version,
		nonce, '', sender_public_key, recipient_public_key, 0, expires_at FROM messages, generate_series(1, $2) WHERE id = $1`,
		w.Sent(one, other).ID, messages)
	w.Exec("DELETE FROM events")
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now(), $1, 'order.changed', '{}' FROM generate_series(1, $2)`, one.ID, total-messages)
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload, message_id)
		SELECT gen_random_uuid(), stoa_now(), recipient_id, 'message.created', '{}', id FROM messages LIMIT $1`, messages)
	w.Exec("ANALYZE events, messages")
	stale := func(table string) int64 {
		return w.RowsRead(table, events.StaleStatement, uuid.Nil, events.Retention.Seconds())
	}
	require.LessOrEqual(t, stale("events"), int64(2*batch), "those of the batch, and once more those that it deletes")
	require.LessOrEqual(t, stale("messages"), int64(2*batch))
	require.LessOrEqual(t, w.RowsRead("events", events.MetricsStatement, pq.Array([]string{})), int64(total+1), "each is counted")
}
