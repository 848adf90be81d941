package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/text"
)

const (
	notLine   = "must be a single line without control characters"
	notBidi   = "must not hold bidirectional control characters"
	notHidden = "must hold at least one visible character"
	notUTF8   = "must be valid UTF-8"
	notMulti  = "must not hold control characters except tabs and line breaks"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in          string
		least, most int
		want        string
		err         string
	}{
		"plain":                   {"Ada", 1, 80, "Ada", ""},
		"trimmed":                 {" \t\u00a0\u3000Ada Lovelace\r\n\u0085\u2028", 1, 80, "Ada Lovelace", ""},
		"trimmed before counting": {strings.Repeat(" ", 99) + strings.Repeat("a", 80), 1, 80, strings.Repeat("a", 80), ""},
		"code points":             {strings.Repeat("😀", 80), 1, 80, strings.Repeat("😀", 80), ""},
		"too long":                {strings.Repeat("é", 94), 1, 80, "", "must be 1 to 80 characters; got 94"},
		"too long, optional":      {strings.Repeat("é", 161), 0, 160, "", "must be at most 160 characters; got 161"},
		"empty, optional":         {"", 0, 160, "", ""},
		"empty":                   {"", 1, 80, "", "must be 1 to 80 characters; got 0"},
		"spaces, optional":        {" \u2003\n", 0, 160, "", ""},
		"spaces":                  {" \u2003\n", 1, 80, "", "must be 1 to 80 characters; got 0"},
		"emoji with joiners":      {"👩\u200d🚀\ufe0f", 1, 80, "👩\u200d🚀\ufe0f", ""},
		"directional mark inside": {"a\u200fb", 1, 80, "a\u200fb", ""},
		"right to left":           {"שלום", 1, 80, "שלום", ""},
		"Arabic number sign":      {"\u0600", 1, 80, "\u0600", ""},
		"combining mark":          {"\u0301", 1, 80, "\u0301", ""},
		"replacement character":   {"\ufffd", 1, 80, "\ufffd", ""},

		"NUL":                 {"a\x00", 1, 80, "", notLine},
		"line feed":           {"a\nb", 1, 80, "", notLine},
		"tab":                 {"a\tb", 1, 80, "", notLine},
		"escape at the end":   {"a\x1b", 1, 80, "", notLine},
		"DEL":                 {"a\x7fb", 1, 80, "", notLine},
		"C1":                  {"a\u009bb", 1, 80, "", notLine},
		"next line":           {"a\u0085b", 1, 80, "", notLine},
		"line separator":      {"a\u2028b", 1, 80, "", notLine},
		"paragraph separator": {"a\u2029b", 1, 80, "", notLine},
		"invalid UTF-8":       {"a\xff", 1, 80, "", notUTF8},
		"lone surrogate":      {"a\xed\xa0\x80", 1, 80, "", notUTF8},
	} {
		got, err := text.Line(c.in, c.least, c.most)
		if c.err != "" {
			require.EqualError(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestLineRefusesBidiControls(t *testing.T) {
	t.Parallel()
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		_, err := text.Line("a"+string(r)+"b", 1, 80)
		require.EqualError(t, err, notBidi, "%U", r)
		same, err := text.Multi(string(r), 1, 80)
		require.NoError(t, err, "%U", r)
		require.Equal(t, string(r), same)
	}
}

func TestLineRefusesOnlyInvisible(t *testing.T) {
	t.Parallel()
	for _, r := range "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2064" +
		"\u206a\u206f\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffb\U00016fe4\U0001bca0\U0001d159\U0001d173" +
		"\U000e0001\U000e0020\U000e007f\U000e0100\U000e01ef" {
		for _, s := range []string{string(r), " " + string(r) + " ", "\u200b " + string(r) + "\u3164"} {
			for _, least := range []int{0, 1} {
				_, err := text.Line(s, least, 80)
				require.EqualError(t, err, notHidden, "%U", r)
			}
		}
		got, err := text.Line(string(r)+"a", 1, 80)
		require.NoError(t, err, "%U", r)
		require.Equal(t, string(r)+"a", got)
		_, err = text.Multi(string(r), 1, 80)
		require.NoError(t, err, "%U", r)
	}
}

func TestMulti(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in          string
		least, most int
		err         string
	}{
		"as sent":          {" a\r\n\tb\u2028 \n", 1, 4000, ""},
		"white space only": {" \n", 1, 8000, ""},
		"empty, optional":  {"", 0, 4000, ""},
		"empty":            {"", 1, 8000, "must be 1 to 8000 characters; got 0"},
		"code points":      {strings.Repeat("😀", 8000), 1, 8000, ""},
		"too long":         {strings.Repeat("😀", 8001), 1, 8000, "must be 1 to 8000 characters; got 8001"},
		"NUL":              {"a\x00", 1, 80, notMulti},
		"vertical tab":     {"a\vb", 1, 80, notMulti},
		"form feed":        {"a\fb", 1, 80, notMulti},
		"escape":           {"\x1b[0m", 1, 80, notMulti},
		"DEL":              {"\x7f", 1, 80, notMulti},
		"C1":               {"\u0085", 1, 80, notMulti},
		"invalid UTF-8":    {"\xc0\x80", 1, 80, notUTF8},
	} {
		got, err := text.Multi(c.in, c.least, c.most)
		if c.err != "" {
			require.EqualError(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.in, got, name)
	}
}

func TestAcceptedTextProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		accepted(t, rapid.OneOf(rapid.String(), rapid.StringN(0, 12, -1)).Draw(t, "s"))
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Ada", " a ", "\u200b\u3164", "a\u202eb", "a\nb", "\x00", "\xff", "é\u0301", "\u2028a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { accepted(t, s) })
}

// accepted checks the properties of every text that Line and Multi accept.
func accepted(t require.TestingT, s string) {
	const most = 10
	if line, err := text.Line(s, 1, most); err == nil {
		require.True(t, utf8.ValidString(line))
		require.Equal(t, strings.TrimSpace(s), line)
		require.LessOrEqual(t, utf8.RuneCountInString(line), most)
		require.False(t, strings.ContainsFunc(line, unicode.IsControl))
		again, err := text.Line(line, 1, most)
		require.NoError(t, err)
		require.Equal(t, line, again)
		_, err = text.Multi(line, 1, most)
		require.NoError(t, err, "a line is a text")
	}
	if multi, err := text.Multi(s, 1, most); err == nil {
		require.Equal(t, s, multi)
		require.NotContains(t, multi, "\x00")
		require.LessOrEqual(t, utf8.RuneCountInString(multi), most)
	}
}

// A name that people would take for the platform's is found in any spelling; a name that holds the letters by chance is not.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Platform Support", "SUPPORT", "Stoa", "stoa-official", "StoaSupport", "The Stoa Team", "Süpport", "S u p p o r t", "s.y.s.t.e.m", "Adm1n",
		"Аdmіn", "sто\u0430", "Sup\u200bport", "ＯＦＦＩＣＩＡＬ", "0fficial", "Account support (verified)", "Administrator", "@dmin",
		"Stоa Moderation", "Stoa Operators", "Stoa Moderation Team", "Official Stoa Moderation", "Support Anna", "Admin Bob", "System message", "Stoa Trust",
		"Stoa\u3164Moderation", "StoaModeration", "Sup\u200bport\u3164Anna", "Sup\u200bport\u2800Anna", "Sup\u200bport\uffa0Anna",
	} {
		require.True(t, text.Impersonates(name), name)
	}
	for _, name := range []string{"Otto the Reckoner", "The Moderation Team", "Trust me", "Ecosystems", "Supportive Sam", "Unofficially", "Badminton", "Stoat", "", "Pia", "今日", "A B C"} {
		require.False(t, text.Impersonates(name), name)
	}
	for _, handle := range []string{"stoa_help", "official_x", "security1", "stoasupport"} {
		require.True(t, text.Names{Handle: handle, DisplayName: "Pia"}.LikePlatform(), handle)
	}
	for _, handle := range []string{"pia", "ecosystems", "secure_sam", "supporters"} {
		require.False(t, text.Names{Handle: handle, DisplayName: "Pia"}.LikePlatform(), handle)
	}
}
