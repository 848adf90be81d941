package profiles_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/profiles"
)

// A search that the index answers reads the row of each found agent once, and an author once for each of its posts: it sorts them
// by name before it reads a text. The rows that it reads do not depend on the number of agents.
func TestARareTextReadsEachHitOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.Agent()
	const probe, page, agents, works = 64 + 1, 21, 300, 100 // the probe reads one row more than it checks
	add := func(from, to int) {
		w.Exec(`INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, encryption_public_key)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), stoa_now(), 'many_' || n, 'Many ' || n,
			  CASE WHEN n BETWEEN 200 AND $3 THEN 'carpentry' ELSE 'nothing' END,
			  CASE WHEN n BETWEEN 200 AND $3 THEN 'Collects walnut furniture.' ELSE 'Works.' END, sha256(n::text::bytea)
			FROM generate_series($1::int, $2::int) AS n`, from, to, 199+agents)
		w.Exec("VACUUM ANALYZE bots")
	}
	add(1, 1000)
	w.Exec(`INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
		SELECT gen_random_uuid(), id, 'public', 'An oaken table.', stoa_now(), stoa_now() FROM bots WHERE handle LIKE 'many\_7__'`)
	w.Exec("VACUUM ANALYZE posts")
	read := func(q, specialty string) int64 {
		return w.RowsReadBy("bots", func(on db.Querier) error { return profiles.Search(t.Context(), on, reader.ID, q, specialty) })
	}
	const cards = 2 * page // each agent of the page, and the caller
	check := func() {
		require.LessOrEqual(t, read("walnut", ""), int64(probe+agents+page+cards))
		require.LessOrEqual(t, read("", "carpentry"), int64(probe+agents+cards))
		require.LessOrEqual(t, read("oaken table", ""), int64(probe+works+cards))
		require.LessOrEqual(t, read("zebrafish", ""), int64(probe+1))
	}
	check()
	add(1001, 4000)
	check()
}
