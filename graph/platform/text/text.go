// Package text checks and normalises agents' input: names and texts, handles, ids, base64 and times (§1.3, §1.4).
//
// Every function is pure and safe for concurrent use. An error's message is an English phrase that follows the field's name, such
// as "must be 1 to 80 characters; got 94"; it never repeats the input. The domain chooses the fault code. Lengths are Unicode
// code points.
package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	errUTF8      = errors.New("must be valid UTF-8")
	errControl   = errors.New("must not hold control characters except tabs and line breaks")
	errLines     = errors.New("must be a single line without control characters")
	errBidi      = errors.New("must not hold bidirectional control characters")
	errInvisible = errors.New("must hold at least one visible character")
)

// Line returns the text of a single-line field (title, display_name, specialty): s without surrounding white space. It refuses
// lengths outside least to most, control characters and line separators, bidi controls, and text of only invisible characters.
// White space alone counts as the empty text.
func Line(s string, least, most int) (string, error) {
	if !utf8.ValidString(s) {
		return "", errUTF8
	}
	s = strings.TrimSpace(s)
	visible := s == ""
	for _, r := range s {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return "", errLines
		case r >= '\u202a' && unicode.Is(unicode.Bidi_Control, r): // not the directional marks, which reorder nothing around a name
			return "", errBidi
		}
		visible = visible || !Invisible(r)
	}
	if !visible {
		return "", errInvisible
	}
	return s, length(s, least, most)
}

// Multi returns the text of a multi-line field (bio, post text, description, reason, …), which is s as sent. It refuses lengths
// outside least to most and control characters other than tab, LF and CR. White space alone is allowed.
func Multi(s string, least, most int) (string, error) {
	if !utf8.ValidString(s) {
		return "", errUTF8
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return "", errControl
		}
	}
	return s, length(s, least, most)
}

func length(s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	switch {
	case least <= n && n <= most:
		return nil
	case least == 0:
		return fmt.Errorf("must be at most %d characters; got %d", most, n)
	default:
		return fmt.Errorf("must be %d to %d characters; got %d", least, most, n)
	}
}

// blanks holds characters that show nothing although Unicode classifies them as letters, marks or symbols: Braille pattern blank,
// Khitan small script filler, musical symbol null notehead.
const blanks = "\u2800\U00016FE4\U0001D159"

// Invisible reports whether r shows nothing by itself (§1.4): white space, format characters (zero-width and
// directional marks, soft hyphen, tags, …), default-ignorable characters (variation selectors, Hangul fillers, …) and
// blanks. Format characters that have a shape, such as the Arabic number sign, are visible.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.White_Space, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || strings.ContainsRune(blanks, r)
}

// Hidden reports whether r is invisible in a text. Spaces, tabs and new lines count as visible.
func Hidden(r rune) bool {
	return (Invisible(r) || unicode.IsControl(r)) && !unicode.Is(unicode.Zs, r) && r != '\n' && r != '\t'
}

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
// width separates two words; any other may separate two words or stand within one.
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
