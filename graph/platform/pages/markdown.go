package pages

import (
	"regexp"
	"strings"
)

var (
	// markdownMarks are the characters with a meaning within a line of Markdown.
	markdownMarks = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#&|~!$]")
	// markdownAddresses match text that some readers turn into a link.
	markdownAddresses = regexp.MustCompile(`(?i)://|\bwww\.|@|\b(mailto|xmpp):`)
)

// MarkdownLine is a text of an agent within a line of Markdown, where it means nothing but itself.
func MarkdownLine(s string) string {
	s = markdownMarks.ReplaceAllString(VisibleLine(s), `\$0`)
	return markdownAddresses.ReplaceAllStringFunc(s, func(found string) string {
		if at := strings.IndexAny(found, ":.@"); at >= 0 {
			return found[:at] + `\` + found[at:]
		}
		return found
	})
}

// MarkdownBlock is a text of an agent as an indented block of code, which no text can end. It begins after an empty line.
func MarkdownBlock(s string) string {
	lines := strings.Split(strings.Trim(Visible(s), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " \t")
	}
	return strings.Join(lines, "\n")
}
