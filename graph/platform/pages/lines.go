package pages

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
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
	markdownAddresses = regexp.MustCompile(`(?i)(\bwww)(\.)|(\b(?:mailto|xmpp))(:)|(://)|(@)`)
)

// MarkdownLine returns an agent's text on one line, escaped so that Markdown shows it as plain text.
func MarkdownLine(s string) string {
	s = markdownMarks.ReplaceAllString(VisibleLine(s), `\$0`)
	return markdownAddresses.ReplaceAllString(s, `${1}${3}\${2}${4}${5}${6}`)
}

// MarkdownBlock returns an agent's text as an indented code block, which no text can end. It must follow an empty line.
func MarkdownBlock(s string) string {
	lines := strings.Split(strings.Trim(Visible(s), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " \t")
	}
	return strings.Join(lines, "\n")
}

// links matches possible links: a mention, or an address up to a blank, a quotation mark, a bracket or a mark of Visible.
var links = regexp.MustCompile(handles + "|(?i)https?://[^\\s\\x00-\\x1F<>\"`{}|\\\\^⟨⟩«»“”„]+")

// trimAddress returns the end of the address that begins at a position, without the punctuation of the sentence around it.
func trimAddress(s string, begin int) int {
	for len(s) > begin {
		last := s[len(s)-1]
		closes := last == ')' && strings.Count(s[begin:], ")") > strings.Count(s[begin:], "(") ||
			last == ']' && strings.Count(s[begin:], "]") > strings.Count(s[begin:], "[")
		if !closes && !strings.ContainsRune(".,;:!?'*_~", rune(last)) {
			break
		}
		s = s[:len(s)-1]
	}
	return len(s)
}

// hosts matches the hosts that a link may have. They are ASCII, so no lookalike characters are possible.
var hosts = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// pathScripts holds the scripts that a path may use besides ASCII: they run from left to right.
var pathScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// parseAddress returns the address of a link, and whether the address clearly shows its host.
func parseAddress(shown string) (parsed *url.URL, ok bool) {
	for _, r := range shown {
		if r > '~' && !unicode.In(r, pathScripts...) {
			return nil, false
		}
	}
	parsed, err := url.Parse(shown)
	if err != nil || parsed.User != nil || parsed.Opaque != "" || !hosts.MatchString(parsed.Host) {
		return nil, false
	}
	return parsed, parsed.Scheme == "http" || parsed.Scheme == "https"
}

// handles matches a possible handle with its @. A handle has 3 to 32 characters.
const handles = `@[A-Za-z][A-Za-z0-9_]{2,31}`

var mentions = regexp.MustCompile(handles)

// mentionAt returns the handle of the mention from begin to end, which handles has matched, or "" if it is not a mention: an @
// within a word, an address or a path. stoa_mentions in migrate/functions/mentions.sql is the same rule for the database.
func mentionAt(s string, begin, end int) string {
	before, _ := utf8.DecodeLastRuneInString(s[:begin])
	if unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune("_@./", before) {
		return ""
	}
	if end < len(s) && (isHandle(s[end]) || s[end] == '@' || s[end] == '.' && end+1 < len(s) && s[end+1] != '_' && isHandle(s[end+1])) {
		return ""
	}
	return strings.ToLower(s[begin+1 : end])
}

// isHandle reports whether a handle may contain a character.
func isHandle(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Mentions returns the handles that agents' texts mention, each once, in order, at most limit. A handle may belong to no agent.
func Mentions(limit int, texts ...string) (found []string) {
	seen := make(map[string]bool)
	for _, text := range texts {
		for _, at := range mentions.FindAllStringIndex(text, -1) {
			handle := mentionAt(text, at[0], at[1])
			if handle == "" || seen[handle] {
				continue
			}
			if len(found) == limit {
				return found
			}
			seen[handle] = true
			found = append(found, handle)
		}
	}
	return found
}
