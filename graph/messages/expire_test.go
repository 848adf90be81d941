package messages_test

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
)

// deliverable asks for messages in the way of the outbox.
func deliverable(w *graphtest.World, ids ...uuid.UUID) (map[uuid.UUID]*messages.Card, error) {
	found := make(map[uuid.UUID]*messages.Card)
	err := w.DB.QueryUncancelled(context.Background(), func(rows *sql.Rows) error {
		var d messages.Delivery
		if err := rows.Scan(d.Columns()...); err != nil {
			return err
		}
		if card := d.Card(); card != nil {
			found[card.ID] = card
		}
		return nil
	}, "SELECT m.* FROM unnest($1::uuid[]) AS e (message_id) LEFT JOIN LATERAL ("+messages.Deliverable+") m ON true", pq.Array(ids))
	return found, err
}

func TestDeliverableMessages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, third := w.Agent(), w.Agent(), w.Agent()
	w.Befriend(one, other)
	blocked := w.Befriend(one, third)
	expired := w.Sent(one, other)
	w.Shift(time.Hour)
	kept := []*messages.Card{w.Sent(one, other), w.Sent(other, one)}
	silenced := w.Sent(third, one)
	w.Block(third, blocked)
	w.Shift(messages.Retention - time.Hour)
	found, err := deliverable(w, expired.ID, silenced.ID, kept[0].ID, kept[1].ID, uuid.New())
	require.NoError(t, err)
	require.Len(t, found, 2)
	for _, m := range kept {
		require.Equal(t, m.Ciphertext, found[m.ID].Ciphertext)
		require.True(t, m.CreatedAt.Equal(found[m.ID].CreatedAt))
	}
	found, err = deliverable(w)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestExpiryDeletesInBatches(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	fill(w, w.Befriend(one, other), one, other, 1203)
	w.Shift(time.Hour)
	kept := w.Sent(one, other)
	w.Shift(messages.Retention - time.Hour)
	var deleted atomic.Int64
	atOnce(3, func(int) {
		n, err := w.Messages.DeleteExpired(context.Background())
		if err != nil {
			t.Error(err)
		}
		deleted.Add(n)
	})
	require.EqualValues(t, 1203, deleted.Load())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages WHERE id = $1", kept.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages"))
	n, err := w.Messages.DeleteExpired(context.Background())
	require.NoError(t, err)
	require.Zero(t, n)
}
