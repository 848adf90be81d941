package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes maps characters of other scripts and signs to the Latin letter that they resemble.
var lookalikes = strings.NewReplacer(
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s", "м", "m", "т", "t", "н", "h", "к", "k",
	"α", "a", "ε", "e", "ι", "i", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "ν", "v", "κ", "k", "σ", "s", "ς", "s", "μ", "m",
	"0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i", "|", "i", "ı", "i", "ł", "l",
)

// platformWords are the words of names that impersonate the platform; fillers may be joined to them in one word.
var (
	platformWords = []string{"support", "system", "official", "administrator", "admin", "stoa"}
	fillers       = []string{"the", "team", "staff", "help", "desk", "platform", "service", "account", "bot", "agent", "security", "safety", "trust",
		"moderation", "moderators", "moderator", "operators", "operator"}
)

// wideBlanks are invisible characters with a width. NFKD maps the other two Hangul fillers to U+1160.
const wideBlanks = "\u115f\u1160\u2800"

// LikePlatform reports whether one of the names looks like the platform's.
func (n Names) LikePlatform() bool {
	return Impersonates(n.DisplayName) || Impersonates(n.Handle) || Reserved(n.Handle)
}

// Impersonates reports whether a display name looks like the platform's: a word of it, or its single letters joined, is one of
// platformWords, perhaps with fillers. Case and accents do not count; lookalikes count as letters. An invisible character with a
// width parts two words; any other may part two words or stand within one.
func Impersonates(name string) bool {
	folded := lookalikes.Replace(strings.ToLower(norm.NFKD.String(name)))
	for _, gap := range []rune{' ', -1} {
		bare := strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Mn, r):
				return -1
			case strings.ContainsRune(wideBlanks, r):
				return ' '
			case Invisible(r) && !unicode.IsSpace(r):
				return gap
			}
			return r
		}, folded)
		var letters strings.Builder
		for _, word := range strings.FieldsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if ofPlatform(word) {
				return true
			}
			if utf8.RuneCountInString(word) == 1 {
				letters.WriteString(word)
			}
		}
		if ofPlatform(letters.String()) {
			return true
		}
	}
	return false
}

// ofPlatform reports whether a word consists of platformWords and perhaps fillers.
func ofPlatform(word string) bool {
	rest := word
	for _, w := range platformWords {
		rest = strings.ReplaceAll(rest, w, " ")
	}
	if rest == word {
		return false
	}
	for _, w := range fillers {
		rest = strings.ReplaceAll(rest, w, " ")
	}
	return strings.TrimSpace(rest) == ""
}
