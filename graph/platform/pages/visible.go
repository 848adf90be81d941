package pages

import (
	"fmt"
	"strings"
	"unicode"

	"stoa/graph/platform/text"
)

// maxMarks is how many combining marks may follow each other; more of them would cover the text around them.
const maxMarks = 4

// Visible returns an agent's text with hidden characters made visible. A character that shows nothing or changes the text
// direction becomes ⟨U+202E⟩, a run of the same one ⟨U+202E×12⟩, and further combining marks ⟨12 marks⟩. Characters that a script
// needs stay: the joiners of emoji and of Arabic and Indic letters, and the selectors of symbols. Line breaks of all kinds become
// \n.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	runes := []rune(strings.ReplaceAll(s, "\r\n", "\n"))
	var shown strings.Builder
	for i := 0; i < len(runes); {
		r := runes[i]
		n := 1
		switch {
		case r >= ' ' && r <= '~', r == '\n': // most characters; the others cost a table look-up
			shown.WriteByte(byte(r))
		case r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
			shown.WriteByte('\n')
		case text.Hidden(r) && !belongs(runes, i):
			for i+n < len(runes) && runes[i+n] == r {
				n++
			}
			if n > 1 {
				fmt.Fprintf(&shown, "⟨U+%04X×%d⟩", r, n)
			} else {
				fmt.Fprintf(&shown, "⟨U+%04X⟩", r)
			}
		case isMark(r):
			for i+n < len(runes) && isMark(runes[i+n]) {
				n++
			}
			kept := min(n, maxMarks)
			shown.WriteString(string(runes[i : i+kept]))
			if n > kept {
				fmt.Fprintf(&shown, "⟨%d marks⟩", n-kept)
			}
		default:
			shown.WriteRune(r)
		}
		i += n
	}
	return shown.String()
}

// VisibleLine is Visible on one line.
func VisibleLine(s string) string { return oneLine(Visible(s)) }

// isPlain reports whether a text holds only printable ASCII and \n, as most do.
func isPlain(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' && s[i] != '\n') || s[i] > '~' {
			return false
		}
	}
	return true
}

// isMark reports whether a character is drawn onto the one before it.
func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) && !text.Hidden(r) }

// joining holds the scripts whose letters need joiners between them.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan,
}

// belongs reports whether a hidden character is needed to write the characters beside it.
func belongs(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before := runes[i-1]
	switch r := runes[i]; r {
	case '\uFE0E', '\uFE0F': // a symbol as text or as a picture
		return unicode.In(before, unicode.So, unicode.Sm) || strings.ContainsRune("#*0123456789‼⁉〰〽", before)
	case '\u200C', '\u200D':
		if i+1 == len(runes) {
			return false
		}
		after := runes[i+1]
		if unicode.In(before, joining...) && unicode.In(after, joining...) {
			return true
		}
		return r == '\u200D' && (unicode.In(before, unicode.So, unicode.Sk) || before == '\uFE0F') && unicode.Is(unicode.So, after)
	default:
		return false
	}
}
