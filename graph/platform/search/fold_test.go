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
func TestFoldingIsUnicodeFolding(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	folded := func(text string) string { return graphtest.Column[string](w, "SELECT stoa_fold($1)", text)[0] }
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
	found := graphtest.Column[string](w,
		"SELECT stoa_fold(t) FROM unnest($1::text[]) WITH ORDINALITY AS all_texts (t, n) ORDER BY n", pq.Array(all))
	require.Len(t, found, len(all))
	for i, text := range all {
		require.Equal(t, graphtest.Folded(text), found[i], "%q %U", text, []rune(text))
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(letters), rapid.SampledFrom([]rune("ßẞſςΣİı\u0345\u0301\u0307ᾳΐŉﬃaIK")))).Draw(r, "text")
		require.Equal(r, graphtest.Folded(text), folded(text), "%U", []rune(text))
	})
}
