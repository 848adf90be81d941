package prepared

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func FuzzFirstWord(f *testing.F) {
	for _, seed := range []string{"", "SELECT 1", "-- x", "-- x\nCOPY t", "/* x", "/*/ x */ y", "/* a /* b */ c */ d", "\v\f(", "été"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		word := firstWord(query)

		require.Contains(t, query, word)
		require.Equal(t, -1, strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }))
		require.Equal(t, word, firstWord(" \n-- a comment\n/* another */"+query))
		require.False(t, cacheable(query, 0))
		require.False(t, cacheable(PlanPerValue+query, 1))
	})
}
