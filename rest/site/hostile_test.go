package site_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/graph/graphtest"
	"stoa/graph/platform/text"
)

// fragments are the parts of hostile texts.
var fragments = []string{
	`<script>alert(1)</script>`, `</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</main></body></html>`,
	`<!--`, `-->`, `<![CDATA[`, `]]>`, `{{.}}`, `{{template "x"}}`, `</textarea>`, `<svg/onload=alert(1)>`, `<style>*{display:none}</style>`, `javascript:alert(1)`,
	`data:text/html,<script>alert(1)</script>`, `http://a.example/"onmouseover="alert(1)`, `https://a.example/'><b>`, `https://user:pass@evil.example/`,
	`http://a.example/<script>`, `https://a.example/?a=b&c=d#e`, `HTTPS://A.EXAMPLE/`, `http://`, `https://[::1]:80/x`, `http://аpple.example/`, `https://x\@y/`,
	"https://a.example/\u202egpj.exe", "https://a.example/\u200b/x", "\u202eevil\u202c", "\u2066\u2067\u2068\u2069", "\u200e\u200f\u061c", "\u200b\u200c\u200d\ufeff\u2060", "\u00ad",
	"\u3164\uffa0\u115f", "\u2800", "\ufe0f", "\U000e0001\U000e0041\U000e007f", "\u180e", "e" + strings.Repeat("\u0301", 40), "\u2028\u2029", "\r\n", "\n\n\n", "\t", "\u0085",
	"&lt;script&gt;", "&#60;b&#62;", "&", "&amp;", "<", ">", `"`, `'`, "`", "\\", "%3Cscript%3E", "+ADw-script+AD4-", "\ufffe\uffff", "\U0010ffff", "שלום", "مرحبا", "😀👨‍👩‍👧", "❤️",
	"# heading", "[a](javascript:alert(1))", "![x](https://a.example/x.png)", "<https://a.example>", "```", "    code", "> quote", "---", "| a | b |", "www.evil.example", "a@evil.example",
	"[x]: https://a.example", "\\", "*bold*", "_it_", "~~x~~", "$x$", "1. one", "- one", "plain words",
}

// hostileTexts makes texts of one fragment and of many fragments; with -short a fifth of the texts.
func hostileTexts(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	texts := slices.Clone(fragments)
	for len(texts) < n {
		var made strings.Builder
		for range 1 + random.IntN(8) {
			made.WriteString(fragments[random.IntN(len(fragments))])
			if random.IntN(3) == 0 {
				made.WriteByte(' ')
			}
		}
		texts = append(texts, made.String())
	}
	if !testing.Short() {
		return texts
	}
	var fifth []string
	for i := 0; i < len(texts); i += 5 {
		fifth = append(fifth, texts[i])
	}
	return fifth
}

// asLine returns a text reduced to a single line.
func asLine(s string, most int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s))
	runes := []rune("x" + s)
	return string(runes[:min(len(runes), most)])
}

// skeleton writes the tree of elements with the names of their attributes. It leaves out elements that a text may make, which are
// checked separately: paragraphs, line breaks and links in prose.
func skeleton(t *testing.T, n *html.Node, depth int, into *strings.Builder) {
	t.Helper()
	for child := range n.ChildNodes() {
		switch child.Type {
		case html.CommentNode:
			require.Fail(t, "a comment", child.Data)
		case html.ElementNode:
			var names []string
			for _, a := range child.Attr {
				names = append(names, a.Key)
			}
			fmt.Fprintln(into, strings.Repeat(" ", depth), child.Data, names)
			if attribute(child, "class") == "prose" {
				requireProse(t, child)
				continue
			}
			skeleton(t, child, depth+1, into)
		}
	}
}

// requireProse allows the elements that Markdown makes, and links to other places.
func requireProse(t *testing.T, root *html.Node) {
	t.Helper()
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			require.Equal(t, html.TextNode, n.Type)
			continue
		}
		switch n.Data {
		case "p", "h2", "h3", "h4", "li", "th", "td":
			require.Equal(t, []html.Attribute{{Key: "dir", Val: "auto"}}, n.Attr)
		case "br", "hr", "code", "em", "strong", "del", "ul", "blockquote", "tbody", "tr":
			require.Empty(t, n.Attr)
		case "pre", "table":
			require.Equal(t, []html.Attribute{{Key: "tabindex", Val: "0"}}, n.Attr, "it scrolls")
		case "ol":
			require.LessOrEqual(t, len(n.Attr), 1)
		case "span":
			require.Equal(t, []html.Attribute{{Key: "class", Val: "host"}}, n.Attr)
		case "a":
			require.Len(t, n.Attr, 2)
			require.Regexp(t, `^https?://[a-z0-9.\[\]:-]+(/|\?|#|$)`, strings.ToLower(attribute(n, "href")))
			to := graphtest.Got(url.Parse(attribute(n, "href")))(t)
			require.Nil(t, to.User)
			require.Equal(t, "nofollow ugc noopener", attribute(n, "rel"))
		default:
			require.Fail(t, "an element within a text", n.Data)
		}
	}
}

// requireVisible fails for invisible characters, except characters that join their neighbours.
func requireVisible(t *testing.T, shown string) {
	t.Helper()
	for _, r := range shown {
		if strings.ContainsRune("\ufe0f\u200c\u200d", r) {
			continue
		}
		require.False(t, text.Invisible(r) && !unicode.IsSpace(r), "%U in %q", r, shown)
		require.False(t, unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r), "%U", r)
	}
}

// With any text of agents, pages have the same elements and attributes as with plain words; feeds are XML, and Markdown has only
// the lines of its template.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("plain", nil)
	w.rated(w.Agent(), p.Agent, 4, "plain")
	w.Exec("UPDATE bots SET created_at = (SELECT min(created_at) FROM bots)") // so no agent is younger than one with the same name
	paths := append(p.addresses(), "/", "/posts", "/tasks", "/services", "/search", "/tasks?state=open")
	write := func(s string) {
		line := asLine(s, 160)
		w.Exec("UPDATE bots SET display_name = $1, specialty = $2, bio = $3, character_description = $3", asLine(s, 80), line, "x"+s)
		w.Exec("UPDATE posts SET title = $1, text = $2", line, "x"+s)
		w.Exec("UPDATE services SET title = $1, description = $2", line, "x"+s)
		w.Exec("UPDATE tasks SET title = $1, description = $2", line, "x"+s)
		w.Exec("UPDATE ratings SET text = $1", "x"+s)
	}
	read := func(path string) string {
		got := w.get(path).is(http.StatusOK)
		if got.root == nil {
			requireXML(t, string(got.raw))
			return ""
		}
		for n := range got.root.Descendants() {
			if n.Type == html.TextNode {
				requireVisible(t, n.Data)
			}
		}
		var tree strings.Builder
		skeleton(t, got.root, 0, &tree)
		return tree.String()
	}
	headings := func(path string) (lines []string) {
		raw := string(w.get(path, "Accept", "text/markdown").is(http.StatusOK).raw)
		requireVisible(t, raw)
		for line := range strings.Lines(raw) {
			if strings.HasPrefix(line, "    ") || strings.TrimSpace(line) == "" { // a text without markup, or an empty line
				continue
			}
			require.NotRegexp(t, `(^|[^\\])[<\[`+"`"+`]`, line)
			lines = append(lines, line[:min(2, len(line))])
		}
		return lines
	}
	write("words")
	want, wantLines := map[string]string{}, map[string][]string{}
	for _, path := range paths {
		want[path] = read(path)
		if !strings.HasSuffix(path, ".atom") {
			wantLines[path] = headings(path)
		}
	}
	for _, s := range hostileTexts(300) {
		if strings.ContainsRune(s, '\u0085') {
			s = strings.ReplaceAll(s, "\u0085", "") // agents cannot send it
		}
		write(s)
		for _, path := range paths {
			require.Equal(t, want[path], read(path), "%s with %q", path, s)
		}
		for _, path := range []string{"/", "/@" + p.handle, "/posts/" + p.post.String()} {
			require.Equal(t, wantLines[path], headings(path), "%s with %q", path, s)
		}
	}
}

// The search text is on the page and in the search field, and nowhere as markup.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want string
	for i, s := range append([]string{"plain"}, hostileTexts(120)...) {
		for _, path := range []string{"/search", "/tasks", "/services"} {
			got := w.send(http.MethodGet, path+"?"+query("q", asLine(s, 100))).is(http.StatusOK)
			if path != "/search" {
				continue
			}
			var tree strings.Builder
			skeleton(t, got.root, 0, &tree)
			if i == 0 {
				want = tree.String()
			}
			require.Equal(t, want, tree.String(), "%q", s)
		}
	}
}

// requireXML reads a document to its end.
func requireXML(t *testing.T, document string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(document))
	decoder.Strict = true
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, document)
	}
}
