//go:build browse

package browse_test

import (
	"bytes"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// A reader without a mouse skips to the content, finds a work by searching for its agent, and opens its file.
func TestReader(t *testing.T) {
	nightly(t)
	t.Parallel()
	withAndWithout(t, func(t *testing.T, b *tab, _ string) {
		s := newFixture(t)
		b.open(s.public + "/")
		b.press(kb.Tab)
		require.Equal(t, "To the content", check[focus](b, "focused()").text())
		b.press(kb.Enter)
		require.Equal(t, "content", evaluate[string](b, "document.activeElement.id"))
		b.press(kb.Tab)
		require.True(t, evaluate[bool](b, "Boolean(document.activeElement.closest('main a, main button'))"))

		b.fill("#q", "rivers")
		b.submit("[role=search] button")
		require.Equal(t, "Search: rivers", b.heading())
		require.Equal(t, "rivers", evaluate[string](b, "document.querySelector('#q').value"), "the field keeps what was asked")
		b.submit("main h3 a[href='/@ada']")
		require.Equal(t, "Ada @ada", b.heading())
		b.submit("a[rel=next]")
		b.submit("a[rel=next]")
		b.submit("main h3 a[href^='/posts/" + s.names.Replace("{post}") + "']")
		require.Equal(t, "A map of the river", b.heading())
		require.Positive(t, evaluate[int](b, "document.querySelector('img.big').naturalWidth"), "in the width that fits the screen")
	})
}

// A click copies the sentence that an agent needs; if the browser forbids it, the sentence is selected.
func TestCopyingTheSentence(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := newFixture(t)
	b := newTab(t)
	b.look(views[3])
	b.open(s.public + "/")
	b.waits("document.querySelector('.copy + button')?.textContent === 'Copy'")
	evaluate[bool](b, "document.querySelector('.copy + button').click() || true")
	b.waits("['Copied', 'Selected: press Ctrl+C'].includes(document.querySelector('.copy + button').textContent)")
	sentence := evaluate[string](b, "document.querySelector('.copy').textContent")
	require.Contains(t, sentence, "/skill.md and join.")
	if evaluate[bool](b, "document.querySelector('.copy + button').textContent !== 'Copied'") {
		require.Equal(t, sentence, evaluate[string](b, "String(getSelection())"))
	}
}

// A server without the site has one page, and pages for errors.
func TestClosedSite(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := graphtest.Got(start(graphtest.NewDatabase(t), "STOA_SITE=off"))(t)
	t.Cleanup(s.stop)
	b := newTab(t)
	for _, p := range []address{{path: "/"}, {path: "/posts", status: http.StatusNotFound}} {
		b.visit(p, s.public+p.path)
		b.inspect(p, true)
	}
}

var signInOnce sync.Once

// signIn gives the browser a session of an operator, which all tabs share. The first try is with a wrong token.
func signIn(t *testing.T) {
	t.Helper()
	s := newFixture(t)
	signInOnce.Do(func() {
		b := newTab(t)
		b.look(views[0])
		refused := address{status: http.StatusUnauthorized}
		require.EqualValues(t, http.StatusUnauthorized, b.open(s.operator+"/"))
		b.inspect(refused, true)
		b.sendToken("a-wrong-token-of-more-than-32-characters")
		require.NotEmpty(t, evaluate[string](b, "document.querySelector('[role=alert]').textContent"))
		b.inspect(refused, true)
		b.sendToken(operatorToken)
		require.EqualValues(t, http.StatusOK, b.open(s.operator+"/"))
	})
}

// sendToken fills in the form of the sign-in and sends it.
func (b *tab) sendToken(token string) {
	b.t.Helper()
	b.fill("[name=token]", token)
	b.fill("[name=name]", "Ada")
	b.submit("form:has([name=token]) button")
}

// An operator without scripts signs in and out again.
func TestOperatorSignsOut(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := newFixture(t)
	b := newTab(t, chromedp.WithNewBrowserContext())
	b.setScripts(false)
	b.look(views[0])
	b.open(s.operator + "/")
	b.sendToken(operatorToken)
	b.submit("form[action='/sign-out'] button")
	require.EqualValues(t, http.StatusUnauthorized, b.open(s.operator+"/"))
}

// On a phone the editor of the playground has room for a query.
func TestPlaygroundOnAPhone(t *testing.T) {
	nightly(t)
	t.Parallel()
	signIn(t)
	b := newTab(t)
	b.visit(address{ready: ".graphiql-editors"}, newFixture(t).operator+"/playground")
	require.Greater(t, evaluate[float64](b, "document.querySelector('.graphiql-editors').clientWidth"), 250.)
}

// sound is a page without defects; CONTENT stands for the content of the main part.
const sound = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sound</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css">
<link rel="icon" href="data:,"></head>
<body><header><a href="#content">To the content</a> <a href="/">Home</a></header>
<main id="content" tabindex="-1"><h1>Sound</h1>CONTENT</main></body></html>`

const soundStyle = `:root { color-scheme: light dark } body { background: Canvas; color: CanvasText }
.dim { color: #999; background: #aaa } .bare:focus { outline: none } .narrow { width: 5rem; overflow: hidden }
.scroll { overflow-x: auto } .stacked td { min-width: 60rem }
.low { height: 5rem; overflow: auto } .gone { display: none } .work { height: 9rem } table { width: 3rem; overflow-wrap: anywhere }
a { display: inline-block; padding: .5rem }`

// The checks find every kind of defect.
func TestDefects(t *testing.T) {
	nightly(t)
	t.Parallel()
	for name, c := range map[string]struct{ from, to, found string }{
		"nothing":         {"", "", ""},
		"a date":          {"CONTENT", `<label>Day <input type="datetime-local" name="day"></label> <a href="/">Link</a>`, ""},
		"wide":            {"CONTENT", "<p>" + strings.Repeat("W", 300) + "</p>", "it scrolls sideways"},
		"cut off":         {"CONTENT", `<p class="narrow">` + strings.Repeat("W", 30) + "</p>", "it is cut off"},
		"own scroll bar":  {"CONTENT", `<div class="low" tabindex="0">` + strings.Repeat("Row<br>", 30) + "</div>", "it does not scroll with the page"},
		"hidden text":     {"CONTENT", `<p class="gone">Text</p>`, "a text is hidden"},
		"empty card":      {"CONTENT", `<p class="work"><span>Text</span></p>`, "half of a card is empty"},
		"broken handle":   {"CONTENT", `<table><tr><td>@adaline</td></tr></table>`, "a handle is broken: @adaline"},
		"turned handle":   {"CONTENT", `<p dir="auto">سارة <span class="handle">@adaline</span></p>`, "a handle is turned round: @adaline"},
		"broken number":   {"CONTENT", `<table><tr><td>1208.50</td></tr></table>`, "a number is broken: 1208.50"},
		"broken word":     {"CONTENT", `<div class="prose"><table><tr><td>columns</td></tr></table></div>`, "a word of a table is broken: columns"},
		"large heading":   {"CONTENT", `<div class="prose"><h2>Notice of the operators</h2></div>`, "a heading of an agent is large"},
		"text unmarked":   {"CONTENT", `<div class="prose"><p>Notice</p></div>`, "a text of an agent has no rule"},
		"cut placeholder": {"CONTENT", `<label>Find <input size="4" placeholder="A handle, an id or a title"></label>`, "a placeholder is cut off"},
		"wide list":       {"CONTENT", `<div class="scroll" tabindex="0"><table class="stacked"><tr><td>Row</td></tr></table></div>`, "a list runs past the edge"},
		"enlarged":        {"CONTENT", `<img src="/small.png" alt="A picture" width="200" height="200">`, "a picture is enlarged 4 times"},
		"broken picture":  {"CONTENT", `<img src="/style.css" alt="A picture">`, "a picture is broken"},
		"contrast":        {"CONTENT", `<p class="dim">Who can read this?</p>`, "color-contrast"},
		"unnamed field":   {"CONTENT", `<form method="post"><input name="x"></form>`, "label"},
		"inline style":    {"CONTENT", `<p style="color: red">Red</p>`, "Content Security Policy"},
		"inline script":   {"CONTENT", `<script>window.pwned = 1</script>`, "Content Security Policy"},
		"script error":    {"CONTENT", `<script src="/wrong.js"></script>`, "exception"},
		"dialog":          {"CONTENT", `<script src="/dialog.js"></script>`, "dialog: Hello"},
		"no language":     {` lang="en"`, "", "no language"},
		"two headings":    {"CONTENT", "<h1>Another</h1>", "2 instead of 1 h1"},
		"lost anchor":     {`"#content"`, `"#contents"`, "there is no #contents"},
		"no skip link":    {`<a href="#content">To the content</a>`, "", "the first place does not lead to the content"},
		"unseen focus":    {"CONTENT", `<a class="bare" href="/">Link</a>`, "the focus is not shown"},
		"wrong order":     {"CONTENT", `<a tabindex="2" href="/">Second</a><a tabindex="1" href="/">First</a>`, "tabindex"},
		"always light":    {"color-scheme", "ignored", "the ground is as light as"},
		"two stylesheets": {"</head>", `<link rel="stylesheet" href="/style.css?2"></head>`, "2 instead of 1 link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, style := strings.Replace(sound, c.from, c.to, 1), soundStyle
			if c.from == "color-scheme" {
				page, style = sound, "html, body { background: white; color: black } a { color: blue }"
			}
			page = strings.Replace(page, "CONTENT", "", 1)
			var small bytes.Buffer
			require.NoError(t, png.Encode(&small, plainPicture(50, 50)))
			files := map[string]string{
				"/": page, "/style.css": style, "/wrong.js": "nothing.there()", "/dialog.js": "alert('Hello')", "/small.png": small.String(),
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:")
				kinds := map[string]string{"": "text/html", "css": "text/css", "js": "text/javascript", "png": "image/png"}
				_, kind, _ := strings.Cut(r.URL.Path, ".")
				w.Header().Set("Content-Type", kinds[kind])
				_, _ = io.WriteString(w, files[r.URL.Path])
			}))
			t.Cleanup(server.Close)
			b := newTab(t)
			b.visit(address{}, server.URL+"/")
			found := b.find(address{}, true)
			if c.found == "" {
				require.Empty(t, found)
				return
			}
			all := strings.Join(found, "\n")
			assert.Contains(t, all, c.found)
			if name == "contrast" {
				assert.Equal(t, len(views), strings.Count(all, ": color-contrast: "), "in every view: %s", all)
			}
		})
	}
}
