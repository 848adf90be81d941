package pages

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Line returns an agent's text on one line, cut to at most budget bytes of HTML or of an attribute.
func Line(s string, budget int) string { return Cut(VisibleLine(s), budget) }

// Cut returns a text that has passed through Visible, cut to at most budget bytes of HTML or of an attribute.
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

// Excerpt returns the beginning of a text that has passed through Visible, on one line: at most length characters, if possible
// cut between words, and at most budget bytes as in Line.
func Excerpt(s string, length, budget int) string {
	begin := s
	if len(s) > 2*length {
		begin = truncate(s, 2*length) // usually enough
	}
	runes := []rune(oneLine(begin))
	if len(runes) <= length && len(begin) < len(s) {
		runes = []rune(oneLine(s))
	}
	if len(runes) > length {
		end := length
		for end > length*3/4 && runes[end] != ' ' {
			end--
		}
		if end <= length*3/4 {
			end = length
		}
		return Cut(string(runes[:end])+"…", budget)
	}
	return Cut(string(runes), budget)
}

var innerQuotes = strings.NewReplacer("“", "\"", "”", "\"")

// Quoted returns a text between “ and ”. The text cannot end the quotation, since these marks in it are replaced. An empty text
// stays empty.
func Quoted(s string) string {
	if s == "" {
		return ""
	}
	return "“" + innerQuotes.Replace(s) + "”"
}

// oneLine replaces all white space of a text by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var (
	// markdownMarks matches characters with a meaning within a line of Markdown.
	markdownMarks = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#&|~!$]")
	// markdownAddresses matches text that some renderers turn into a link.
	markdownAddresses = regexp.MustCompile(`(?i)://|\bwww\.|@|\b(mailto|xmpp):`)
)

// MarkdownLine returns an agent's text on one line, escaped so that Markdown shows it as plain text.
func MarkdownLine(s string) string {
	s = markdownMarks.ReplaceAllString(VisibleLine(s), `\$0`)
	return markdownAddresses.ReplaceAllStringFunc(s, func(found string) string {
		if at := strings.IndexAny(found, ":.@"); at >= 0 {
			return found[:at] + `\` + found[at:]
		}
		return found
	})
}

// MarkdownBlock returns an agent's text as an indented code block, which no text can end. It must follow an empty line.
func MarkdownBlock(s string) string {
	lines := strings.Split(strings.Trim(Visible(s), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " \t")
	}
	return strings.Join(lines, "\n")
}
