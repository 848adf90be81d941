package pages

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// Prose is an agent's text as HTML.
type Prose struct {
	// HTML has only paragraphs, headings, lists, quotations, tables, code, emphasis and links.
	HTML template.HTML
	// Cut reports that the end is missing, because the budget was too small.
	Cut bool
}

// NewProse renders a text that may be Markdown in at most budget bytes of HTML and less than a hundred more. Line breaks stay.
// Addresses that begin with http:// or https:// become links, as do mentions of known handles. A link whose words are not its
// address shows its host. Pictures become links, HTML stays text. The headings of the text are below the level of the heading
// that stands above it on the page.
func NewProse(s string, budget, level int, known map[string]bool) Prose {
	shown := strings.Trim(Visible(s), "\n")
	w := &proseWriter{left: budget, level: level, known: known}
	if len(shown) > budget { // escaped, it is even longer
		shown, w.late = truncate(shown, budget), true
	}
	w.source = []byte(shown)
	w.blocks(parseMarkdown(w.source), 0)
	return Prose{template.HTML(w.out.String()), w.cut || w.late} //nolint:gosec // every text in it is escaped
}

// truncate returns at most limit bytes of a text, without splitting a character.
func truncate(s string, limit int) string {
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// maxDepth is how deep lists and quotations may be nested; deeper ones lose their element but keep their text.
const maxDepth = 8

// proseWriter writes until its budget is spent.
type proseWriter struct {
	source []byte
	out    strings.Builder
	left   int
	cut    bool
	// late reports that the end of the text was cut off before it was parsed.
	late bool
	// level is the level of the heading above the text, headings holds the levels of the open headings in the text.
	level    int
	headings []int
	// known holds the handles that become links.
	known map[string]bool
	// linked reports that the writer is inside a link.
	linked bool
	// sentencesTo is the last block of a run of paragraphs in which codeRun found no program; nil outside such a run.
	sentencesTo ast.Node
}

// element writes an element with the output of within, or nothing if its tags exceed the budget.
func (w *proseWriter) element(name, attributes string, within func()) {
	begin, end := "<"+name+attributes+">", "</"+name+">"
	if w.cut = w.cut || w.left < len(begin)+len(end); w.cut {
		return
	}
	w.left -= len(begin) + len(end)
	w.out.WriteString(begin)
	within()
	w.out.WriteString(end)
}

// scrolls lets the Tab key reach an element that scrolls sideways.
const scrolls = ` tabindex="0"`

// void writes an element without content.
func (w *proseWriter) void(name string) {
	if !w.cut {
		w.out.WriteString("<" + name + ">")
		w.left -= len(name) + 2
	}
}

// blocks writes the blocks in a node.
func (w *proseWriter) blocks(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil && !w.cut; n = n.NextSibling() {
		first, last := n, ast.Node(nil)
		if depth == 0 {
			last = w.codeRun(n)
		}
		if last != nil {
			w.code(w.between(first, last))
			n = last
		} else {
			w.block(n, depth)
		}
		if depth == 0 {
			w.out.WriteByte('\n')
			w.left--
		}
	}
}

// block writes a block. depth is the number of blocks around it.
func (w *proseWriter) block(n ast.Node, depth int) {
	inner := func() { w.blocks(n, depth+1) }
	words := func() { w.inlines(n) }
	switch n := n.(type) {
	case *ast.Heading:
		w.element("h"+strconv.Itoa(w.headingLevel(n.Level)), ` dir="auto"`, words)
	case *ast.Paragraph:
		if lines := w.raw(n); isAligned(lines) {
			w.element("pre", scrolls, func() { w.text(strings.TrimRight(lines, "\n")) })
			return
		}
		w.element("p", ` dir="auto"`, words)
	case *ast.TextBlock:
		w.inlines(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.code(w.raw(n))
	case *ast.ThematicBreak:
		w.void("hr")
	case *extension.Table:
		w.table(n)
	case *ast.Blockquote:
		w.framed("blockquote", "", depth, inner)
	case *ast.List:
		name, start := "ul", ""
		if n.IsOrdered() {
			name = "ol"
			if n.Start != 1 {
				start = ` start="` + strconv.Itoa(n.Start) + `"`
			}
		}
		w.framed(name, start, depth, inner)
	case *ast.ListItem:
		w.framed("li", ` dir="auto"`, depth, inner)
	default:
		inner()
	}
}

// code writes lines of a program.
func (w *proseWriter) code(lines string) {
	w.element("pre", scrolls, func() { w.element("code", "", func() { w.text(strings.TrimRight(lines, "\n")) }) })
}

// framed writes a container element unless it is too deep. It always writes the content.
func (w *proseWriter) framed(name, attributes string, depth int, inner func()) {
	if depth > maxDepth {
		inner()
		return
	}
	w.element(name, attributes, inner)
}

// headingLevel returns the level of an HTML heading. It skips no level, whatever levels the text uses.
func (w *proseWriter) headingLevel(level int) int {
	for len(w.headings) > 0 && w.headings[len(w.headings)-1] >= level {
		w.headings = w.headings[:len(w.headings)-1]
	}
	w.headings = append(w.headings, level)
	return min(w.level+len(w.headings), 6)
}

func (w *proseWriter) table(table ast.Node) {
	w.element("table", scrolls, func() {
		for row := table.FirstChild(); row != nil && !w.cut; row = row.NextSibling() {
			cell := "td"
			if _, head := row.(*extension.TableHeader); head {
				cell = "th"
			}
			w.element("tr", "", func() {
				for n := row.FirstChild(); n != nil && !w.cut; n = n.NextSibling() {
					w.element(cell, ` dir="auto"`, func() { w.inlines(n) })
				}
			})
		}
	})
}

// raw returns the source of a block.
func (w *proseWriter) raw(n ast.Node) string {
	var text strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		text.Write(line.Value(w.source))
	}
	return text.String()
}

// columns matches blanks between words that only a fixed-width font aligns.
var columns = regexp.MustCompile(`(?m)\S(  +|\t)\S.*$`)

// isAligned reports whether at least two lines, and most lines, have columns.
func isAligned(lines string) bool {
	if !strings.Contains(lines, "  ") && !strings.Contains(lines, "\t") { // most texts
		return false
	}
	found := len(columns.FindAllString(lines, -1))
	return found >= 2 && 2*found > strings.Count(strings.TrimRight(lines, "\n"), "\n")+1
}

// IsTable reports whether a text begins with code or a table that only a fixed-width font aligns.
func IsTable(s string) bool {
	begin, _, _ := strings.Cut(strings.TrimLeft(s, "\n"), "\n\n")
	return strings.HasPrefix(begin, "```") || isAligned(begin)
}

// inlines writes the content of a block or of emphasis.
func (w *proseWriter) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil && !w.cut; n = n.NextSibling() {
		words := func() { w.inlines(n) }
		switch n := n.(type) {
		case *ast.Text:
			w.words(n)
		case *ast.CodeSpan:
			w.element("code", "", func() { w.text(strings.ReplaceAll(w.plain(n), "\n", " ")) })
		case *ast.Emphasis:
			w.element([]string{"em", "strong"}[min(n.Level, 2)-1], "", words)
		case *extension.Strikethrough:
			w.element("del", "", words)
		case *ast.Link:
			w.named(string(n.Destination), words, w.plain(n))
		case *ast.Image:
			w.named(string(n.Destination), words, w.plain(n))
		case *ast.AutoLink:
			w.line(string(n.Label(w.source)))
		default:
			words()
		}
	}
}

// words writes a run of text once, at its first node, because the parser splits runs at marks that are not markup.
func (w *proseWriter) words(n *ast.Text) {
	if before, ok := n.PreviousSibling().(*ast.Text); ok && !breaks(before) {
		return
	}
	var run []byte
	last := n
	for {
		run = append(run, last.Segment.Value(w.source)...)
		next, ok := last.NextSibling().(*ast.Text)
		if !ok || breaks(last) {
			break
		}
		last = next
	}
	w.line(string(util.UnescapePunctuations(run)))
	if breaks(last) {
		w.void("br")
	}
}

func breaks(n *ast.Text) bool { return n.SoftLineBreak() || n.HardLineBreak() }

// plain returns the text within a node without markup.
func (w *proseWriter) plain(n ast.Node) string {
	var text strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			text.Write(t.Segment.Value(w.source))
			if breaks(t) {
				text.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return text.String()
}

// named writes a link with its own words. If the words are not the address, the host follows, or the whole address if the words
// look like a handle or an address. If the address may not become a link, it follows as text.
func (w *proseWriter) named(address string, words func(), shown string) {
	href, ok := parseAddress(address)
	if !ok || w.linked {
		words()
		w.text(" (" + address + ")")
		return
	}
	w.linked = true
	w.element("a", ` href="`+html.EscapeString(href.String())+`" rel="nofollow ugc noopener"`, words)
	w.linked = false
	if strings.TrimSpace(shown) != address {
		where := href.Host
		if strings.ContainsAny(shown, "@/") {
			where = href.String()
		}
		w.element("span", ` class="host"`, func() { w.text(" (" + where + ")") })
	}
}

// text writes as much as the budget allows, and marks the cut.
func (w *proseWriter) text(s string) {
	for _, r := range s {
		if w.cut {
			return
		}
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

// line writes a line and turns its addresses and mentions into links.
func (w *proseWriter) line(s string) {
	written := 0
	for _, at := range links.FindAllStringIndex(s, -1) {
		if w.cut || w.linked {
			break
		}
		begin, end := at[0], at[1]
		var attributes string
		if s[begin] != '@' {
			end = trimAddress(s[:end], begin)
			attributes = external(s, begin, end, at[1])
		} else if handle := mentionAt(s, begin, end); w.known[handle] {
			attributes = ` href="/@` + handle + `"`
		}
		if attributes == "" {
			continue
		}
		w.text(s[written:begin])
		w.element("a", attributes, func() { w.text(s[begin:end]) })
		written = end
	}
	w.text(s[written:])
}

// external returns the attributes of a link to the address from begin to end, whose match ended at found, or "".
func external(s string, begin, end, found int) string {
	href, ok := parseAddress(s[begin:end])
	if before, _ := utf8.DecodeLastRuneInString(s[:begin]); !ok || unicode.IsLetter(before) || unicode.IsDigit(before) {
		return ""
	}
	if strings.HasPrefix(s[found:], "⟨") { // the address continues with an invisible character
		return ""
	}
	return ` href="` + html.EscapeString(href.String()) + `" rel="nofollow ugc noopener"`
}
