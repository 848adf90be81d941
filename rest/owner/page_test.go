package owner_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/graph/graphtest"
	"stoa/graph/platform/pages"
)

// page is an answer, parsed like in a browser.
type page struct {
	t      *testing.T
	code   int
	header http.Header
	raw    []byte
	root   *html.Node
}

func newPage(t *testing.T, method string, answer *http.Response, raw []byte) *page {
	t.Helper()
	p := &page{t: t, code: answer.StatusCode, header: answer.Header, raw: raw}
	if answer.Request.URL.Path == pages.StylesheetPath || answer.Request.URL.Path == pages.IconPath {
		return p
	}
	policy := "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if p.header.Get("Content-Type") == "application/zip" {
		policy = "sandbox; default-src 'none'"
	}
	require.Equal(t, policy, p.header.Get("Content-Security-Policy"))
	require.Equal(t, "no-referrer", p.header.Get("Referrer-Policy"))
	require.Equal(t, "noindex", p.header.Get("X-Robots-Tag"))
	require.Equal(t, "nosniff", p.header.Get("X-Content-Type-Options"))
	if len(raw) == 0 || p.header.Get("Content-Type") != "text/html; charset=utf-8" {
		return p
	}
	require.NotEqual(t, http.MethodHead, method)
	require.Equal(t, "no-store", p.header.Get("Cache-Control"))
	p.root = graphtest.Got(html.Parse(bytes.NewReader(raw)))(t)
	p.check()
	return p
}

// check checks a page against the rules for all pages.
func (p *page) check() {
	p.t.Helper()
	require.Equal(p.t, "en", attribute(p.find("html")[0], "lang"))
	require.NotRegexp(p.t, `(?i)<script|<style|\sstyle=|\son[a-z]+="|ZgotmplZ|<no value>`, string(p.raw))
	require.Len(p.t, p.find("h1"), 1)
	require.NotEmpty(p.t, textOf(p.find("h1")[0]))
	require.Equal(p.t, textOf(p.find("h1")[0])+" · Stoa", textOf(p.find("title")[0]))
	require.Contains(p.t, string(p.raw), `<meta name="robots" content="noindex">`)
	ids, labels := map[string]bool{}, map[string]bool{}
	for _, n := range p.find("") {
		if id := attribute(n, "id"); id != "" {
			require.False(p.t, ids[id], "two elements are %s", id)
			ids[id] = true
		}
		if n.Data == "label" {
			labels[attribute(n, "for")] = true
		}
	}
	for _, n := range append(p.find("input"), p.find("textarea")...) {
		if attribute(n, "type") != "hidden" {
			require.True(p.t, labels[attribute(n, "id")], "a field has no label")
		}
	}
}

// status requires a status.
func (p *page) status(code int) *page {
	p.t.Helper()
	require.Equal(p.t, code, p.code, "%s", p.raw)
	return p
}

// find returns the elements with a name; an empty name selects all.
func (p *page) find(name string) (found []*html.Node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && (n.Data == name || name == "") {
			found = append(found, n)
		}
	}
	return found
}

// title returns the heading.
func (p *page) title() string { return textOf(p.find("h1")[0]) }

// says requires texts, ignoring elements and spaces between words.
func (p *page) says(texts ...string) *page {
	p.t.Helper()
	for _, text := range texts {
		require.Contains(p.t, textOf(p.root), text)
	}
	return p
}

// links returns the targets of all links.
func (p *page) links() (targets []string) {
	for _, a := range p.find("a") {
		targets = append(targets, attribute(a, "href"))
	}
	return targets
}

// form returns the values that the page's only form would send.
func (p *page) form() url.Values {
	p.t.Helper()
	require.Len(p.t, p.find("form"), 1)
	require.Equal(p.t, "post", attribute(p.find("form")[0], "method"))
	require.Empty(p.t, attribute(p.find("form")[0], "action"), "it goes where the page came from")
	require.Len(p.t, p.find("button"), 1)
	require.Equal(p.t, "submit", attribute(p.find("button")[0], "type"))
	values := url.Values{}
	for _, n := range p.find("input") {
		values.Add(attribute(n, "name"), attribute(n, "value"))
	}
	require.NotEmpty(p.t, values, "Lynx sends a form without fields as a GET")
	return values
}

// token returns the content of the field with the new token.
func (p *page) token() string {
	p.t.Helper()
	require.Len(p.t, p.find("textarea"), 1)
	require.Contains(p.t, string(p.raw), " readonly ")
	return textOf(p.find("textarea")[0])
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text of a node with single spaces.
func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const title = `</title><script>alert("1")</script> & sons`
	const text = "\n  <b>First</b> line\r\n\n\tsecond & last {{.}} </pre><script>  \n"
	id := w.Publish("hostile", "<i>2</i>", text)
	w.Exec("UPDATE documents SET title = $1 WHERE id = $2", title, id)
	path := "/owner/documents/" + id.String()
	shown := w.get(path).status(http.StatusOK)
	require.Equal(t, title, shown.title())
	require.Empty(t, shown.find("script"))
	require.Empty(t, shown.find("b"))
	require.Empty(t, shown.find("i"))
	shown.says("<i>2</i>", hash(text))
	require.Equal(t, "\n  <b>First</b> line\n\n\tsecond & last {{.}} </pre><script>  \n", shown.find("pre")[0].FirstChild.Data,
		"line breaks and spaces are kept")
	require.Contains(t, shown.links(), path+".txt")
	require.NotContains(t, textOf(shown.root), "not in force")

	raw := w.get(path + ".txt").status(http.StatusOK)
	require.Equal(t, "text/plain; charset=utf-8", raw.header.Get("Content-Type"))
	require.Equal(t, hash(text), hash(string(raw.raw)))
	_, mail := w.apply("echo")
	require.Contains(t, textOf(w.get(mail.path).root), title)

	w.Exec("UPDATE documents SET url = 'https://stoa.example/terms' WHERE id = $1", id)
	require.Contains(t, w.get(path).links(), "https://stoa.example/terms")
	w.Publish("hostile", "3", "")
	w.get(path).status(http.StatusOK).says("This version is not in force any more.")
	for _, unknown := range []string{uuid.NewString(), "x", "{" + id.String() + "}", id.String() + "/", id.String() + ".html", ""} {
		for _, end := range []string{"", ".txt"} {
			require.Equal(t, "There is no such page", w.get("/owner/documents/"+unknown+end).status(http.StatusNotFound).title(), unknown)
		}
	}
}
