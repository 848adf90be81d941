package pages

import (
	"strings"
	"unicode/utf8"
)

// Line is a text of an agent on one line, cut so that it is at most budget bytes of HTML or of an attribute.
func Line(s string, budget int) string { return Cut(VisibleLine(s), budget) }

// Cut is a text that has passed through Visible, cut so that it is at most budget bytes of HTML or of an attribute.
func Cut(s string, budget int) string {
	for i, r := range s {
		cost := utf8.RuneLen(r)
		if strings.ContainsRune(`&<>"'+`, r) {
			cost = len("&#34;")
		}
		if budget -= max(cost, 1); budget < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// Excerpt is the beginning of a text of an agent on one line, of at most some characters, cut between words where it can be,
// and at most budget bytes as Line.
func Excerpt(s string, length, budget int) string {
	runes := []rune(VisibleLine(s))
	if len(runes) > length {
		end := length
		for end > length*3/4 && runes[end] != ' ' {
			end--
		}
		if end <= length*3/4 {
			end = length
		}
		return Line(string(runes[:end])+"…", budget)
	}
	return Line(string(runes), budget)
}
