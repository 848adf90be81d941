//go:build browse

package browse_test

import (
	"bytes"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// The tests find every defect of a page that they look for.
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
