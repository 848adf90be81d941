package pages

import (
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prose is a text of an agent as HTML.
type Prose struct {
	// HTML has paragraphs, line breaks and links, and nothing else that is no text.
	HTML template.HTML
	// Cut says that the end is missing, because it would have been larger than the budget.
	Cut bool
}

// NewProse renders a text in some budget bytes of HTML, which it exceeds by less than a hundred. An empty line begins a
// paragraph. Addresses that begin with http:// or https:// become links.
func NewProse(s string, budget int) Prose {
	w := &proseWriter{left: budget}
	for paragraph := range strings.SplitSeq(emptyLines.ReplaceAllString(strings.Trim(Visible(s), "\n"), "\n\n"), "\n\n") {
		if paragraph == "" || w.cut {
			continue
		}
		w.tag(`<p dir="auto">`)
		for i, line := range strings.Split(paragraph, "\n") {
			if w.cut {
				break
			}
			if i > 0 {
				w.tag("<br>")
			}
			w.line(line)
		}
		w.tag("</p>\n")
	}
	return Prose{template.HTML(w.out.String()), w.cut} //nolint:gosec // every text in it is escaped
}

// emptyLines are two line breaks or more, with nothing but blanks between.
var emptyLines = regexp.MustCompile(`\n\s*\n`)

// proseWriter writes until its budget is spent.
type proseWriter struct {
	out  strings.Builder
	left int
	cut  bool
}

// tag writes markup of this package, even if there is no room left: it may end what was begun.
func (w *proseWriter) tag(markup string) {
	w.out.WriteString(markup)
	w.left -= len(markup)
}

// text writes as much as there is room for, and marks where it is cut.
func (w *proseWriter) text(s string) {
	for _, r := range s {
		escaped := html.EscapeString(string(r))
		if len(escaped) > w.left {
			w.out.WriteString("…")
			w.cut = true
			return
		}
		w.out.WriteString(escaped)
		w.left -= len(escaped)
	}
}

// line writes a line with its links.
func (w *proseWriter) line(s string) {
	for !w.cut {
		at := addresses.FindStringIndex(s)
		if at == nil {
			w.text(s)
			return
		}
		begin, end := at[0], trimAddress(s[:at[1]], at[0])
		href, ok := parseAddress(s[begin:end])
		if before, _ := utf8.DecodeLastRuneInString(s[:begin]); unicode.IsLetter(before) || unicode.IsDigit(before) {
			ok = false
		}
		if strings.HasPrefix(s[at[1]:], "⟨") { // an invisible character follows
			ok = false
		}
		if !ok {
			w.text(s[:at[1]])
			s = s[at[1]:]
			continue
		}
		w.text(s[:begin])
		w.link(href, s[begin:end])
		s = s[end:]
	}
}

// link writes a link as a whole or not at all.
func (w *proseWriter) link(href, shown string) {
	if w.cut {
		return
	}
	markup := `<a href="` + html.EscapeString(href) + `" rel="nofollow ugc noopener">` + html.EscapeString(shown) + `</a>`
	if len(markup) > w.left {
		w.left = 0
		w.text("…")
		return
	}
	w.tag(markup)
}

// addresses match text that may become a link: up to a blank, a quotation mark, a bracket or a mark of Visible.
var addresses = regexp.MustCompile("(?i)https?://[^\\s\\x00-\\x1F<>\"`{}|\\\\^⟨⟩«»“”„]+")

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

// hosts are the names and addresses that a link may lead to; no others look like them, since they are ASCII.
var hosts = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// pathScripts are the scripts besides ASCII that a path may be written in: they run from left to right.
var pathScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// parseAddress returns the address of a link, and whether it is one that shows where it leads.
func parseAddress(shown string) (href string, ok bool) {
	for _, r := range shown {
		if r > '~' && !unicode.In(r, pathScripts...) {
			return "", false
		}
	}
	parsed, err := url.Parse(shown)
	if err != nil || parsed.User != nil || parsed.Opaque != "" || !hosts.MatchString(parsed.Host) {
		return "", false
	}
	return parsed.String(), parsed.Scheme == "http" || parsed.Scheme == "https"
}

// Line is a text of an agent on one line, cut so that it is at most budget bytes of HTML or of an attribute.
func Line(s string, budget int) string {
	s = VisibleLine(s)
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
