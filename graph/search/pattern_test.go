package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/graph/search"
)

func TestHasTrigram(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false, "a": false, "ab": false, "abc": true, "a1B": true, "ab c": false, "ab abc": true, "---": false, "a_bc": false,
		"приветы": false, "東京都庁": false, "жabcж": true, "%%%": false, "\xff\xff\xff": false,
	} {
		require.Equal(t, want, search.HasTrigram(s), "%q", s)
	}
}

// A pattern means its text and nothing else: read by LIKE's rules it has one wildcard at either end.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"", "%", "_", `\`, `\%`, `\\_%`, "a%b_c", "ж%", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		p := search.Pattern(s)
		require.True(t, strings.HasPrefix(p, "%") && strings.HasSuffix(p, "%"))
		var text strings.Builder
		escaped := false
		for _, r := range p[1 : len(p)-1] {
			switch {
			case !escaped && r == '\\':
				escaped = true
				continue
			case !escaped:
				require.NotContains(t, "%_", string(r))
			}
			text.WriteRune(r)
			escaped = false
		}
		require.False(t, escaped, "the last wildcard is escaped")
		require.Equal(t, s, text.String())
	})
}
