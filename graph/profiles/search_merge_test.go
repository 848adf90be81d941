package profiles_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/search"
)

// A text is found as soon as it is written, and as well after it was merged into the index.
func TestASearchFindsWhatIsNotYetMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.named("Reader")
	_, err := search.Merge(t.Context(), w.DB.SQL)
	require.NoError(t, err)
	w.describe(w.named("Ada"), "Ada", "engines", "I weave.")
	require.Equal(t, []string{"Ada"}, w.search(reader, "weave", ""))
	pages, err := search.Merge(t.Context(), w.DB.SQL)
	require.NoError(t, err)
	require.Positive(t, pages)
	require.Equal(t, []string{"Ada"}, w.search(reader, "weave", ""))
	pages, err = search.Merge(t.Context(), w.DB.SQL)
	require.NoError(t, err)
	require.Zero(t, pages)
}

// Every index of q-grams collects what is written, and has a name by which Merge finds it.
func TestAllIndexesOfSearchesAreMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const made = "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE pg_get_indexdef(c.oid) LIKE '%stoa_qgrams(%'"
	require.EqualValues(t, 4, w.Count(made))
	require.EqualValues(t, 4, w.Count(made+` AND c.relname LIKE '%\_qgrams' AND 'fastupdate=on' = ANY (c.reloptions)`))
}

// The keys of a text are the ones with which the indexes were built at first: another key would hide the texts that are in them.
func TestKeysOfTextsNeverChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const asBuilt = `SELECT array_to_tsvector(ARRAY(SELECT DISTINCT substr($1::text, i, 5) FROM generate_series(1, length($1)) AS i))
		IS NOT DISTINCT FROM stoa_qgrams($1)`
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab \\'\x1f\n%_")), 1, 40, -1),
			rapid.StringMatching(`[^\x00]{1,60}`), rapid.StringOfN(rapid.RuneFrom([]rune("aÀ京𝄞")), 1, 20, -1)).Draw(r, "text")
		var same bool
		require.NoError(r, w.DB.SQL.QueryRowContext(t.Context(), asBuilt, text).Scan(&same))
		require.True(r, same, "%q", text)
	})
}
