package migrate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The new indexes answer the searches of a server of the version before, and find its new texts.
func TestSearchesOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), `
		INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, bio, encryption_public_key)
		SELECT gen_random_uuid(), now(), now(), now(), 'a' || n, 'A' || n, CASE n WHEN 70 THEN '100% Zebra_fish' ELSE 'Nothing.' END, sha256(n::text::bytea)
		FROM generate_series(1, 2000) AS n;
		INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
		SELECT gen_random_uuid(), id, 'public', bio, now(), now() FROM bots;
		INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), now(), now(), id, 'T', bio, now(), 1, 0, 1, 0 FROM bots;
		INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), now(), now(), id, 'T', bio FROM bots;
		ANALYZE`)
	require.NoError(t, err)
	database.SetMaxOpenConns(1)
	_, err = database.ExecContext(t.Context(), "SET enable_seqscan = off") // the tables are small
	require.NoError(t, err)
	column := func(query string) string {
		var all string
		require.NoError(t, database.QueryRowContext(t.Context(), query).Scan(&all))
		return all
	}
	for table, searched := range map[string]string{
		"bots": "b.folded", "posts": "CASE WHEN b.visibility = 'public' AND b.deleted_at IS NULL THEN b.folded END",
		"tasks": "CASE WHEN b.removed_at IS NULL THEN b.folded END", "services": "CASE WHEN b.deleted_at IS NULL THEN b.folded END",
	} {
		search := `WITH needle AS MATERIALIZED (SELECT lower('0% ZEBRA_F') AS folded) SELECT json_agg(b.folded) FROM ` + table +
			" b WHERE stoa_qgrams(" + searched + ") @@ (SELECT stoa_qgram_query(folded) FROM needle)"
		require.Equal(t, 1, strings.Count(column(search), "100% zebra_fish"), table)
		require.Contains(t, column("EXPLAIN (FORMAT json) "+search), table+"_trigrams")
	}
}
