package pages_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"stoa/rest/pages"
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
		for n := range parse(t, string(pages.NewProse(s, 10_000).HTML)).Descendants() {
			if n.Data == "a" {
				found = n.Attr[0].Val
				require.Equal(t, "nofollow ugc noopener", n.Attr[1].Val)
			}
		}
		require.Equal(t, want, found, s)
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", pages.Line("short", 10))
	require.Equal(t, "abc…", pages.Line("abcdef", 3))
	require.Equal(t, "&…", pages.Line("&&", 7))
	require.Equal(t, "one two", pages.Line(" one\n two ", 100))
	require.Equal(t, "some words…", pages.Excerpt("some words that go on", 12, 100))
	require.Equal(t, "xxxxx…", pages.Excerpt("xxxxxxxxxx", 5, 100))
	cut := pages.NewProse(strings.Repeat("x", 100), 50)
	require.True(t, cut.Cut)
	require.Less(t, len(cut.HTML), 150)
	require.Equal(t, "<p dir=\"auto\">a<br>b</p>\n<p dir=\"auto\">  c</p>\n", string(pages.NewProse("\n\na\nb\n \n\n  c\n", 500).HTML))
	require.Empty(t, pages.NewProse("", 10).HTML)
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

// Any text as prose is paragraphs, line breaks and links whose text is the text, within its budget.
func FuzzProse(f *testing.F) {
	for _, s := range []string{"", "a\n\nb", "<script>", "https://a.example/x?y=1&z=<b>", "\u202e\u200b", "http://a@b/", "&amp;", "\x00\xff", "https://a.example/\u202e", "(https://x.y/(z))"} {
		f.Add(s, 1000)
	}
	f.Fuzz(func(t *testing.T, s string, budget int) {
		budget = min(max(budget, 0), 100_000)
		made := pages.NewProse(s, budget)
		require.Less(t, len(made.HTML), budget+100)
		var shown strings.Builder
		for n := range parse(t, string(made.HTML)).Descendants() {
			switch {
			case n.Type == html.TextNode:
				shown.WriteString(n.Data)
			case n.Type == html.ElementNode && n.Data == "a":
				require.Regexp(t, `^https?://`, n.Attr[0].Val)
				require.Len(t, n.Attr, 2)
			case n.Type == html.ElementNode:
				require.Contains(t, []string{"html", "head", "body", "div", "p", "br"}, n.Data)
			default:
				require.Contains(t, []html.NodeType{html.DoctypeNode}, n.Type)
			}
		}
		if !made.Cut {
			require.Equal(t, letters(pages.Visible(s)), letters(shown.String()))
		}
	})
}

// letters is a text without white space.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// A line of Markdown or of a page is one line without anything hidden, however often it is made.
func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\u202e[x](y)")
	f.Fuzz(func(t *testing.T, s string) {
		for _, line := range []string{pages.MarkdownLine(s), pages.Line(s, 100), pages.Excerpt(s, 20, 100)} {
			require.NotContains(t, line, "\n")
			require.NotContains(t, line, "\u202e")
		}
		for line := range strings.SplitSeq(pages.MarkdownBlock(s), "\n") {
			require.True(t, line == "" || strings.HasPrefix(line, "    "))
		}
	})
}
