package messages_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// A send looks up the recipient's oldest events in the index, also on a connection that planned it when there were no events.
func TestFirstEventsAreFoundInTheIndex(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("ANALYZE events")
	conn, err := w.DB.SQL.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	const first = "SELECT cardinality(stoa_first_events($1, 16))"
	count := func(of uuid.UUID) (found int) {
		require.NoError(t, conn.QueryRowContext(t.Context(), first, of).Scan(&found))
		return found
	}
	for range 10 { // PostgreSQL keeps the plan of the sixth
		count(one.ID)
	}
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now(), $1, 'order.changed', '{}' FROM generate_series(1, 5000)`, other.ID)
	_, err = conn.ExecContext(t.Context(), "BEGIN")
	require.NoError(t, err)
	require.Less(t, count(one.ID), 16)
	require.Equal(t, 16, count(other.ID))
	var read int
	require.NoError(t, conn.QueryRowContext(t.Context(), `SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)
		FROM pg_stat_xact_user_tables WHERE relname = 'events'`).Scan(&read))
	require.Less(t, read, 2*16)
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
}
