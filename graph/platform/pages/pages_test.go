package pages_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
)

func TestPreferred(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": pages.HTML, "*/*": pages.HTML, "text/*": pages.HTML, "application/json": pages.JSON, "application/*": pages.JSON, "text/markdown": pages.Markdown,
		"application/json, */*": pages.JSON, "text/markdown, */*": pages.Markdown, "application/json, text/plain, */*": pages.JSON,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": pages.HTML, "application/json;q=0.5, text/markdown;q=0.6": pages.Markdown,
		"text/markdown, text/html": pages.HTML, "text/html;q=0, */*": pages.Markdown, "image/png": pages.HTML, "nonsense": pages.HTML, "application/json;q=2": pages.HTML,
		"APPLICATION/JSON": pages.JSON, "application/json;q=0.1": pages.JSON, "application/json;q=NaN": pages.HTML, "text/markdown;q=0.9, text/*;q=0.1": pages.Markdown,
	} {
		require.Equal(t, want, pages.Preferred([]string{accept}), accept)
	}
	require.Equal(t, pages.JSON, pages.Preferred([]string{"text/html;q=0.1", "application/json"}))
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"plain\ntext": "plain\ntext", "a\r\nb\rc\u2028d\u2029e": "a\nb\nc\nd\ne", "tab\there": "tab\there", "a\u202eb": "a⟨U+202E⟩b", "\u200b\u200b\u200b": "⟨U+200B×3⟩",
		"a\u200db": "a⟨U+200D⟩b", "\u200d": "⟨U+200D⟩", "a\ufe0f": "a⟨U+FE0F⟩", "❤️": "❤️", "👨‍👩‍👧": "👨‍👩‍👧", "👍🏽": "👍🏽", "1\ufe0f\u20e3": "1\ufe0f\u20e3", "می\u200cخواهم": "می\u200cخواهم",
		"क्\u200dष": "क्\u200dष", "soft\u00adhyphen": "soft⟨U+00AD⟩hyphen", "\U000e0041": "⟨U+E0041⟩", "\u3164": "⟨U+3164⟩", "\u2800": "⟨U+2800⟩", "\x00": "⟨U+0000⟩", "é": "é", "e\u0301": "e\u0301",
		"x" + strings.Repeat("\u0301", 20): "x" + strings.Repeat("\u0301", 4) + "⟨16 marks⟩", "\xff": "\ufffd", "שלום": "שלום", "\u061c": "⟨U+061C⟩", "日本\u3000語": "日本\u3000語",
	} {
		require.Equal(t, want, pages.Visible(s), "%q", s)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"see https://a.example/x.": "https://a.example/x", "(https://a.example/x)": "https://a.example/x", "https://a.example/x_(y)": "https://a.example/x_(y)",
		"http://a.example?x=1&y=2#z, and": "http://a.example?x=1&y=2#z", "HTTPS://A.example/": "https://A.example/", "http://[::1]:8080/x": "http://[::1]:8080/x",
		"https://a.example/Über": "https://a.example/%C3%9Cber", "http://localhost:80": "http://localhost:80", "„https://a.example“": "https://a.example",
		"javascript:alert(1)": "", "ftp://a.example": "", "https://": "", "https://user@a.example": "", "https://аpple.example": "", "xhttps://a.example": "",
		"https://a.example/\u202egpj": "", "https://a.example/שלום": "", "https://.": "", "https://a.example:port/": "", "data:text/html,x": "", "//a.example": "", "https:///x": "",
	} {
		var found string
		for n := range parse(t, string(pages.NewProse(s, 10_000, 1, nil).HTML)).Descendants() {
			if n.Data == "a" {
				found = n.Attr[0].Val
				require.Equal(t, "nofollow ugc noopener", n.Attr[1].Val)
			}
		}
		require.Equal(t, want, found, s)
	}
}

func TestShortenedTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", pages.Line("short", 10))
	require.Equal(t, "abc…", pages.Line("abcdef", 3))
	require.Equal(t, "&…", pages.Line("&&", 7))
	require.Equal(t, "one two", pages.Line(" one\n two ", 100))
	require.Equal(t, "some words…", pages.Excerpt("some words that go on", 12, 100))
	require.Equal(t, "xxxxx…", pages.Excerpt("xxxxxxxxxx", 5, 100))
	cut := pages.NewProse(strings.Repeat("x", 100), 50, 1, nil)
	require.True(t, cut.Cut)
	require.Less(t, len(cut.HTML), 150)
	require.Equal(t, "<p dir=\"auto\">a<br>b</p>\n<p dir=\"auto\">c</p>\n", string(pages.NewProse("\n\na\nb\n \n\n  c\n", 500, 1, nil).HTML))
	require.Empty(t, pages.NewProse("", 10, 1, nil).HTML)
}

func TestMarkdownTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, `\# a \<b\> \[c\](d) \*e\* \`+"`f\\`", pages.MarkdownLine("# a\n<b> [c](d) *e* `f`"))
	require.Equal(t, `https\://a.example www\.b.example c\@d`, pages.MarkdownLine("https://a.example www.b.example c@d"))
	require.Equal(t, "    # a\n\n      b\n    ```", pages.MarkdownBlock("\n# a\r\n\r  b\n```\n"))
}

func parse(t testing.TB, fragment string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<!DOCTYPE html><body><div>" + fragment + "</div></body>"))
	require.NoError(t, err)
	return root
}

// Markdown of agents is rendered; markup that could deceive or hide stays text.
func TestProse(t *testing.T) {
	t.Parallel()
	const rel = ` rel="nofollow ugc noopener"`
	for s, want := range map[string]string{
		"*a* **b** ~~c~~ `d*`":              `<p dir="auto"><em>a</em> <strong>b</strong> <del>c</del> <code>d*</code></p>`,
		"a\nb":                              `<p dir="auto">a<br>b</p>`,
		"### a\n# b\n## c\n###### d":        `<h2 dir="auto">a</h2>` + "\n" + `<h2 dir="auto">b</h2>` + "\n" + `<h3 dir="auto">c</h3>` + "\n" + `<h4 dir="auto">d</h4>`,
		"- a\n- b":                          `<ul><li dir="auto">a</li><li dir="auto">b</li></ul>`,
		"3. a":                              `<ol start="3"><li dir="auto">a</li></ol>`,
		"> a":                               `<blockquote><p dir="auto">a</p></blockquote>`,
		"```go\nx  := <1>\n```":             "<pre tabindex=\"0\"><code>x  := &lt;1&gt;</code></pre>",
		"| a | b |\n|---|---|\n| 1 | *2* |": `<table tabindex="0"><tr><th dir="auto">a</th><th dir="auto">b</th></tr><tr><td dir="auto">1</td><td dir="auto"><em>2</em></td></tr></table>`,
		"city   rise\nOslo   10:26\nRome   07:02":     "<pre tabindex=\"0\">city   rise\nOslo   10:26\nRome   07:02</pre>",
		"[a](https://b.example/c)":                    `<p dir="auto"><a href="https://b.example/c"` + rel + `>a</a><span class="host"> (b.example)</span></p>`,
		"[https://good.example](https://bad.example)": `<p dir="auto"><a href="https://bad.example"` + rel + `>https://good.example</a><span class="host"> (https://bad.example)</span></p>`,
		"[@ada](https://b.example/@bob)":              `<p dir="auto"><a href="https://b.example/@bob"` + rel + `>@ada</a><span class="host"> (https://b.example/@bob)</span></p>`,
		"[https://a.example](https://a.example)":      `<p dir="auto"><a href="https://a.example"` + rel + `>https://a.example</a></p>`,
		"[a](javascript:alert(1))":                    `<p dir="auto">a (javascript:alert(1))</p>`,
		"[a](/owner)":                                 `<p dir="auto">a (/owner)</p>`,
		"![a](https://b.example/c.png)":               `<p dir="auto"><a href="https://b.example/c.png"` + rel + `>a</a><span class="host"> (b.example)</span></p>`,
		"<b onclick=x>a</b>":                          `<p dir="auto">&lt;b onclick=x&gt;a&lt;/b&gt;</p>`,
		"<div>\n\na":                                  `<p dir="auto">&lt;div&gt;</p>` + "\n" + `<p dir="auto">a</p>`,
		"&#x202E;&lt;b&gt;":                           `<p dir="auto">&amp;#x202E;&amp;lt;b&amp;gt;</p>`,
		"[a]: https://b.example":                      `<p dir="auto">[a]: <a href="https://b.example"` + rel + `>https://b.example</a></p>`,
		`\*a\* 2 * 3 * 4 snake_case_name`:             `<p dir="auto">*a* 2 * 3 * 4 snake_case_name</p>`,
		"---":                                         "<hr>",
		"@otto":                                       `<p dir="auto">@otto</p>`,
	} {
		made := pages.NewProse(s, 10_000, 1, nil)
		require.Equal(t, want, strings.TrimRight(string(made.HTML), "\n"), s)
		require.False(t, made.Cut)
	}
}

// The headings of a text stand below the heading above it and skip no level.
func TestHeadingsOfAText(t *testing.T) {
	t.Parallel()
	const h3, h4 = `<h3 dir="auto">a</h3>` + "\n", `<h4 dir="auto">b</h4>` + "\n"
	require.Equal(t, h3+h4+h3, string(pages.NewProse("# a\n#### b\n# a", 1000, 2, nil).HTML))
}

// A text in quotation marks cannot end the quotation.
func TestQuoted(t *testing.T) {
	t.Parallel()
	require.Equal(t, "“x\" and @lena \"y”", pages.Quoted("x” and @lena “y"))
	require.Empty(t, pages.Quoted(""))
}

// Unmarked code keeps its lines, and sentences stay sentences.
func TestProgramsWithoutMarks(t *testing.T) {
	t.Parallel()
	program := "import re, sys\n\nCELLS = 40     # seconds\n\ndef lit(t):\n    if t < 3: return True\n    return False\n\nfor t in range(9):\n    print(lit(t))"
	made := string(pages.NewProse("Look:\n\n"+program+"\n\nThat is all.", 10_000, 1, nil).HTML)
	require.Equal(t, "<p dir=\"auto\">Look:</p>\n<pre tabindex=\"0\"><code>"+strings.ReplaceAll(program, "<", "&lt;")+"</code></pre>\n<p dir=\"auto\">That is all.</p>\n", made)
	for _, sentences := range []string{
		"If we go to the sea\n  for the night (and for you)\nthe lamp is out.", "if\n\nfor\n\nx = 1\n\ny = 2", "Say (a)\n    and (b)\n    and (c), and no more",
		strings.Repeat("x = 1\n\n", 3000),
	} {
		require.NotContains(t, string(pages.NewProse(sentences, 30_000, 1, nil).HTML), "<pre", sentences)
	}
}

// Words returns a text without markup and without the blocks that only a whole page shows.
func TestWords(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"# A *b*\n\n- c\n- [d](https://e.example)\n\n> f": "A b\n\nc\n\nd\n\nf",
		"a\nb  \nc": "a\nb\nc",
		"a\n\n| b |\n|---|\n| c |\n\n```\nd\n```\n\n---\n\ne": "a\n\ne",
		"a\n\nx  := 1\ny  := 2\n\nb":                          "a\n\nb",
		"```\na\n```":                                         "```\na\n```",
		`1\. a \*b`:                                           "1. a *b",
		"":                                                    "",
	} {
		require.Equal(t, want, pages.Words(s), s)
	}
}

// The prose of any text has only known elements and attributes, a bounded depth, and a size within its budget.
func FuzzProse(f *testing.F) {
	for _, s := range []string{
		"", "a\n\nb", "<script>", "https://a.example/x?y=1&z=<b>", "\u202e\u200b", "http://a@b/", "&amp;", "\x00\xff", "https://a.example/\u202e", "(https://x.y/(z))",
		"# a\n\n- b\n  - c", "[a](https://b.example)", "![a](b)", "| a |\n|---|\n| b |", strings.Repeat("> ", 500) + "a", strings.Repeat("- ", 500) + "a",
		strings.Repeat("[", 500), strings.Repeat("*a ", 500), strings.Repeat("`", 500), "a  b\nc  d", "```\n<x>", "a\n===", "[a](<https://b.example> \"t\")",
	} {
		f.Add(s, 1000)
	}
	f.Fuzz(func(t *testing.T, s string, budget int) {
		budget = min(max(budget, 0), 100_000)
		made := pages.NewProse(s, budget, 1, nil)
		require.Less(t, len(made.HTML), budget+100)
		for n := range parse(t, string(made.HTML)).Descendants() {
			switch {
			case n.Type == html.TextNode:
				for _, r := range n.Data {
					require.False(t, text.Invisible(r) && !unicode.IsSpace(r) && !strings.ContainsRune("\ufe0e\ufe0f\u200c\u200d", r), "%U", r)
				}
			case n.Type == html.ElementNode && n.Data == "a":
				require.Regexp(t, `^https?://`, n.Attr[0].Val)
				require.Len(t, n.Attr, 2)
			case n.Type == html.ElementNode:
				require.Contains(t, elements, n.Data)
				for _, attribute := range n.Attr {
					require.Contains(t, []string{`dir="auto"`, `class="host"`, `tabindex="0"`, `start="` + attribute.Val + `"`}, attribute.Key+`="`+attribute.Val+`"`)
				}
			default:
				require.Equal(t, html.DoctypeNode, n.Type)
			}
		}
	})
}

// elements are the elements that a text may become, with their parents.
var elements = []string{
	"html", "head", "body", "div", "p", "br", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "hr",
	"table", "tbody", "tr", "th", "td", "span",
}

// Plain words stay complete, in any order.
func TestPlainWordsStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-zA-Zäß0-9,.;:?() \n]{0,300}`).Draw(t, "text")
		root, err := html.Parse(strings.NewReader(string(pages.NewProse(s, 10_000, 1, nil).HTML)))
		require.NoError(t, err)
		var shown strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				shown.WriteString(n.Data)
			}
		}
		words := func(s string) string { return regexp.MustCompile(`[^a-zA-Zäß]`).ReplaceAllString(s, "") }
		require.Equal(t, words(s), words(shown.String()))
	})
}
