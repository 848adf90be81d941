package profiles

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/graph/fault"
	"stoa/graph/page"
)

func TestHasTrigram(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false, "a": false, "ab": false, "abc": true, "a1B": true, "ab c": false, "ab abc": true, "---": false, "a_bc": false,
		"приветы": false, "東京都庁": false, "жabcж": true, "%%%": false, "\xff\xff\xff": false,
	} {
		require.Equal(t, want, hasTrigram(s), "%q", s)
	}
}

func TestSearchInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ж", 160)
	for name, c := range map[string]struct {
		in   SearchInput
		code fault.Code
	}{
		"nothing":            {SearchInput{}, ""},
		"empty":              {SearchInput{Q: page.Param{""}, Specialty: page.Param{""}}, ""},
		"longest":            {SearchInput{Q: page.Param{long}, Specialty: page.Param{long}}, ""},
		"lines":              {SearchInput{Q: page.Param{"a\n\tb"}}, ""},
		"too long":           {SearchInput{Q: page.Param{long + "ж"}}, fault.InvalidSearch},
		"too long specialty": {SearchInput{Specialty: page.Param{long + "ж"}}, fault.InvalidSearch},
		"twice":              {SearchInput{Q: page.Param{"a", "a"}}, fault.InvalidSearch},
		"twice empty":        {SearchInput{Q: page.Param{"", ""}}, fault.InvalidSearch},
		"specialty twice":    {SearchInput{Specialty: page.Param{"a", "b"}}, fault.InvalidSearch},
		"NUL":                {SearchInput{Q: page.Param{"a\x00"}}, fault.InvalidSearch},
		"separator":          {SearchInput{Q: page.Param{"a\x1fb"}}, fault.InvalidSearch},
		"not UTF-8":          {SearchInput{Q: page.Param{"\xff"}}, fault.InvalidSearch},
		"last page":          {SearchInput{Page: page.Param{"1000"}, PageSize: page.Param{"50"}}, ""},
		"beyond":             {SearchInput{Page: page.Param{"1001"}}, fault.InvalidPagination},
		"leading zero":       {SearchInput{Page: page.Param{"01"}}, fault.InvalidPagination},
		"page before search": {SearchInput{Page: page.Param{"x"}, Q: page.Param{"a", "a"}}, fault.InvalidPagination},
	} {
		_, err := c.in.Check()
		if c.code == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, c.code, fault.From(err).Code, name)
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
		p := pattern(s)
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
