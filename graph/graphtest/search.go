package graphtest

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// searchedLetters are those that LIKE, trigrams, normal forms or letter case could get wrong.
var searchedLetters = []rune("aAbBc_%\\é京жЖ -1eE\u0301σΣςßẞsİiı\u0307ﬁfᾳΑα\u0345ι") //nolint:gosmopolitan // one letter of three bytes

// SearchedText draws texts of least to 24 characters to be searched.
func SearchedText(least int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom(searchedLetters), least, 24, -1)
}

// SearchQuery draws what to search for in texts: any part of one of them, in any case, most of the time; nothing; or something else.
func SearchQuery(t *rapid.T, texts ...string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
	switch choice := rapid.IntRange(0, 5).Draw(t, "choice of query"); {
	case choice == 0:
		return ""
	case choice == 1 || len(texts) == 0:
		return rapid.StringOfN(rapid.SampledFrom(searchedLetters), 1, 8, -1).Draw(t, "query")
	default:
		of := []rune(rapid.SampledFrom(texts).Draw(t, "searched text"))
		from := rapid.IntRange(0, len(of)-1).Draw(t, "from")
		part := string(of[from:rapid.IntRange(from+1, len(of)).Draw(t, "to")])
		return rapid.SampledFrom([]string{part, strings.ToUpper(part), strings.ToLower(part)}).Draw(t, "query")
	}
}

// Matches reports whether a search for q finds a text: as a substring, by the caseless match of Unicode (D145) in normal form C.
func Matches(text, q string) bool { return strings.Contains(Folded(text), Folded(q)) }

// Folded is a text as searches compare it.
func Folded(s string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(s))) }
