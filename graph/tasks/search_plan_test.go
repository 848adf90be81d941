package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/tasks"
)

// A search reads few texts: a common text ends the walk early, and the index finds rare ones. It reads all texts if none contains
// q but all contain its trigrams, or if q has no trigram.
func TestSearchReadsFewTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 2000
	w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 second', stoa_now(), $1, 'n' || n,
		  'the content of an internal question ' || CASE WHEN n <= 40 THEN 'of old ' ELSE '' END || CASE WHEN n % 50 = 0 THEN 'some ' ELSE '' END
		    || CASE WHEN n = 7 THEN 'zebrafish' ELSE '' END, stoa_now(), 1, 0, 1, 0
		FROM generate_series(1, $2) AS n`, w.customer.ID, count)
	w.Exec("VACUUM ANALYZE tasks")
	examined := func(q string) int64 {
		return w.RowsReadBy("tasks", func(on db.Querier) error { return tasks.Search(t.Context(), on, w.customer.ID, q) })
	}
	const page, probe, top = 21, 64, 64 + 1000 + 2*21
	for _, c := range []struct {
		q     string
		most  int64
		found int
	}{
		{"the", 1 + 2*page + page, 20},               // the walk ends when the page is full
		{"some", top + 3*page, 20},                   // one task in fifty contains it
		{"zebrafish", probe + 4, 1},                  // by the index, after the probe
		{"of old", probe + 40 + 3*page, 20},          // not among the newest, so by the index
		{"zebrafishes", probe, 0},                    // no text has all of its trigrams
		{"contents", probe + count, 0},               // every text has all of its trigrams
		{"of the question of the", probe + count, 0}, // and these
		{"internal content of the question", probe + count, 0},
		{"sh", probe + top + count, 1}, // it has no trigram
	} {
		require.Len(t, w.found(anonymous(), c.q, "open"), c.found, c.q)
		require.LessOrEqual(t, examined(c.q), c.most, c.q)
	}
}
