package events_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// writer is a transaction that has written an event and waits to be ended.
type writer struct {
	version int
	commit  chan bool
	ended   chan error
}

var errGivenUp = errors.New("given up")

// begin starts a transaction that writes an event.
func begin(t testing.TB, w *graphtest.World, to *graphtest.Agent, version int) *writer {
	t.Helper()
	held := &writer{version, make(chan bool), make(chan error, 1)}
	written := make(chan error, 1)
	go func() {
		held.ended <- w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			err := w.Events.Add(ctx, tx, order(to, version))
			written <- err
			if err != nil || !<-held.commit {
				return errors.Join(err, errGivenUp)
			}
			return nil
		})
	}()
	require.NoError(t, <-written)
	return held
}

func (h *writer) end(t testing.TB, commit bool) {
	t.Helper()
	h.commit <- commit
	if err := <-h.ended; commit {
		require.NoError(t, err)
	}
}

// A reader that starts each pass at the horizon of its last pass sees every committed event, whatever the order in which
// transactions draw sequences and end.
func TestNothingIsLostBehindTheHorizon(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		agent := w.Agent()
		var (
			open      []*writer
			horizon   events.Horizon
			settled   int64
			started   int
			committed int
			seen      = make(map[uuid.UUID]bool)
		)
		advance := func(*rapid.T) {
			next := graphtest.Got(w.Events.Advance(t.Context(), horizon))(rt)
			require.GreaterOrEqual(rt, next.Settled, horizon.Settled)
			horizon = next
		}
		read := func(*rapid.T) (rows int) {
			from := cursor(agent, 1000)
			from.After = settled
			begun := horizon.Settled
			batch := fetch(t, w, from)
			for _, e := range batch.Events {
				seen[e.ID] = true
			}
			settled = max(settled, begun)
			return len(batch.Events)
		}
		end := func(commit bool) {
			if len(open) == 0 {
				return
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
			open[i].end(t, commit)
			open = append(open[:i:i], open[i+1:]...)
			if commit {
				committed++
			}
		}
		defer func() { // a failed draw must not leave transactions open
			for _, h := range open {
				h.end(t, false)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) {
				if len(open) < 4 {
					started++
					open = append(open, begin(t, w, agent, started))
				}
			},
			"commit":  func(*rapid.T) { end(true) },
			"give up": func(*rapid.T) { end(false) },
			"advance": advance,
			"read":    func(rt *rapid.T) { read(rt) },
		})
		for len(open) > 0 {
			end(true)
		}
		read(rt)
		require.Len(rt, seen, committed)
		// If no transaction is open, the horizon catches up, and events before it are not read again.
		last := w.Count("SELECT coalesce(max(sequence), 0) FROM events")
		require.Eventually(t, func() bool { advance(rt); return horizon.Settled >= last }, slack.TestWait, soon)
		read(rt)
		require.Zero(rt, read(rt))
	})
}

func TestTheHorizonOfANewDatabaseIsNothing(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("ALTER SEQUENCE event_sequence RESTART WITH 1")
	var horizon events.Horizon
	for range 3 {
		next := graphtest.Got(w.Events.Advance(t.Context(), horizon))(t)
		require.Zero(t, next.Settled, "no sequence was drawn")
		horizon = next
	}
	tell(t, w, order(agent, 1))
	require.Eventually(t, func() bool {
		next, err := w.Events.Advance(t.Context(), horizon)
		horizon = next
		return err == nil && horizon.Settled == 1
	}, slack.TestWait, soon)
}

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
	require.EqualValues(t, 4102, graphtest.Got(w.Events.DeleteStale(t.Context()))(t))
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
		return w.RowsRead(table, graphtest.Statement("delete_stale"), uuid.Nil, events.Retention.Seconds())
	}
	require.LessOrEqual(t, stale("events"), int64(2*batch), "the rows of the batch, and once more the rows that it deletes")
	require.LessOrEqual(t, stale("messages"), int64(2*batch))
	require.LessOrEqual(t, w.RowsRead("events", graphtest.Statement("select_metrics")), int64(total+1), "each is counted")
}
