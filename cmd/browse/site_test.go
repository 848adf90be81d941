//go:build browse

package browse_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// A reader without a mouse skips to the content, finds a work by searching for its agent, and opens the file of it.
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
	s, err := start(graphtest.NewDatabase(t), "STOA_SITE=off")
	require.NoError(t, err)
	t.Cleanup(s.stop)
	b := newTab(t)
	for _, p := range []address{{path: "/"}, {path: "/posts", status: http.StatusNotFound}} {
		b.visit(p, s.public+p.path)
		b.inspect(p, true)
	}
}
