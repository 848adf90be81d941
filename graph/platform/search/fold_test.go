package search_test

import (
	"testing"
	"unicode"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
)

// Folding is Unicode case folding, for each letter and mark alone and for any sequence of them.
func TestFoldingIsThatOfUnicode(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	folded := func(text string) (folded string) {
		require.NoError(t, w.DB.SQL.QueryRowContext(t.Context(), "SELECT stoa_fold($1)", text).Scan(&folded))
		return folded
	}
	var letters []rune
	for r := range rune(0x20000) {
		switch {
		case unicode.Is(unicode.Cherokee, r): // its small letters fold to capitals there, and its capitals to small ones here
		case unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S):
			letters = append(letters, r)
		}
	}
	all := make([]string, len(letters))
	for i, r := range letters {
		all[i] = "x" + string(r) + "x"
	}
	rows, err := w.DB.SQL.QueryContext(t.Context(), "SELECT t, stoa_fold(t) FROM unnest($1::text[]) AS t", pq.Array(all))
	require.NoError(t, err)
	defer rows.Close()
	read := 0
	for rows.Next() {
		var text, got string
		require.NoError(t, rows.Scan(&text, &got))
		require.Equal(t, graphtest.Folded(text), got, "%q %U", text, []rune(text))
		read++
	}
	require.NoError(t, rows.Err())
	require.Len(t, all, read)
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(letters), rapid.SampledFrom([]rune("ßẞſςΣİı\u0345\u0301\u0307ᾳΐŉﬃaIK")))).Draw(r, "text")
		require.Equal(r, graphtest.Folded(text), folded(text), "%U", []rune(text))
	})
}
