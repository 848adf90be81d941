//go:build browse

package browse_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// maxHTML is the size of a page in bytes.
const maxHTML = 50_000

// visit opens a page and waits until it is loaded.
func (b *tab) visit(p address, at string) {
	b.t.Helper()
	b.look(views[0])
	require.Equal(b.t, max(p.status, http.StatusOK), b.open(at), at)
	if p.ready != "" {
		b.do(chromedp.WaitReady(chromedp.CSS(p.ready)))
	}
}

// inspect requires that the page that the tab shows has no defect.
func (b *tab) inspect(p address, scripts bool) {
	b.t.Helper()
	for _, wrong := range b.find(p, scripts) {
		assert.Fail(b.t, "the page is wrong", wrong)
	}
}

// find lists the defects of the page that the tab shows, in every view. scripts is true if the page may run scripts, which
// axe-core needs, too.
func (b *tab) find(p address, scripts bool) (wrong []string) {
	b.t.Helper()
	for _, v := range views {
		b.look(v)
		if p.foreign {
			continue
		}
		found := check[[]string](b, "layout()")
		if light := check[float64](b, "luminance()"); (v.scheme == "light") != (light > .5) {
			found = append(found, fmt.Sprintf("the ground is as light as %.2f", light))
		}
		if scripts {
			found = append(found, check[[]string](b, "enlarged()")...)
			for _, broken := range b.axe(slices.Contains(wholeViews, v)) {
				found = append(found, broken.String())
			}
		}
		for _, f := range found {
			wrong = append(wrong, v.String()+": "+f)
		}
	}
	if !p.foreign {
		wrong = append(wrong, check[[]string](b, "form()")...)
		wrong = append(wrong, b.findFocus()...)
	}
	for _, complaint := range b.takeComplaints() {
		absent := p.status >= http.StatusBadRequest && strings.Contains(complaint, "the server responded with a status of")
		others := slices.ContainsFunc(p.tolerated, func(part string) bool { return strings.Contains(complaint, part) })
		if !absent && !others {
			wrong = append(wrong, complaint)
		}
	}
	return wrong
}

// focus is the element that the Tab key has reached.
type focus struct {
	Name string `json:"name"`
	// Within is true for another part of the input that had the focus before.
	Within bool `json:"within"`
	// Skip is true for a link within the page; Above is true for an element before the content.
	Skip  bool     `json:"skip"`
	Above bool     `json:"above"`
	Wrong []string `json:"wrong"`
}

// text is the name without the element.
func (f focus) text() string {
	_, text, _ := strings.Cut(f.Name, "> ")
	return text
}

// findFocus walks through the page by the Tab key, which must reach every usable element, in the order of the document, visibly.
// Elements above the content can be skipped. It returns the violations.
func (b *tab) findFocus() (wrong []string) {
	b.t.Helper()
	stops := check[int](b, "stops()")
	check[chromedp.Void](b, "unfocus()")
	for i := range stops {
		b.press(kb.Tab)
		f := check[focus](b, "focused()")
		for f.Within {
			b.press(kb.Tab)
			f = check[focus](b, "focused()")
		}
		if f.Name == "" {
			return append(wrong, fmt.Sprintf("the Tab key leads nowhere after %d of %d places", i, stops))
		}
		for _, found := range f.Wrong {
			wrong = append(wrong, f.Name+": "+found)
		}
		if i == 0 && f.Above && !f.Skip {
			wrong = append(wrong, f.Name+": the first place does not lead to the content")
		}
	}
	return wrong
}

// fetched holds the statuses and bodies of linked pages, by address.
var fetched sync.Map

type answer struct {
	status int
	body   []byte
}

// fetch requests an address once for all tests.
func (b *tab) fetch(address string) answer {
	b.t.Helper()
	if known, ok := fetched.Load(address); ok {
		return known.(answer)
	}
	request := graphtest.Got(http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil))(b.t)
	request.Header.Set("Accept", "text/html")
	if strings.HasPrefix(address, serving.operator) {
		request.Header.Set("Authorization", "Bearer "+operatorToken)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(b.t, err)
	defer response.Body.Close()
	body := graphtest.Got(io.ReadAll(response.Body))(b.t)
	got := answer{response.StatusCode, body}
	fetched.Store(address, got)
	return got
}

// inspectLinks follows the links of the page within its listener, and measures the page itself.
func (b *tab) inspectLinks(at string, p address) {
	b.t.Helper()
	if !p.large {
		assert.Less(b.t, len(b.fetch(at).body), maxHTML)
	}
	for _, link := range check[[]string](b, "links()") {
		to := graphtest.Got(url.Parse(link))(b.t)
		fragment := to.Fragment
		to.Fragment = ""
		got := b.fetch(to.String())
		assert.Less(b.t, got.status, http.StatusBadRequest, link)
		if fragment != "" {
			assert.True(b.t, bytes.Contains(got.body, []byte(`id="`+fragment+`"`)), "%s is not there", link)
		}
	}
}
