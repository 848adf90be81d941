//go:build browse

package browse_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/sample"
	"stoa/graph/graphtest"
)

// axeSource reads axe-core, which .ci/packages installs.
var axeSource = sync.OnceValues(func() (string, error) {
	raw, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	return string(raw), err
})

// violation is a rule of axe-core that a page breaks, with the place.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

func (v violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", v.ID, v.Help)
	for _, n := range v.Nodes {
		fmt.Fprintf(&text, "\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.Summary, "\n", "\n    "))
	}
	return text.String()
}

const (
	// allRules are the rules of WCAG 2.2, levels A and AA, and the best practices of axe-core.
	allRules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	// colourRules are the rules of allRules that check colours.
	colourRules = `{type: 'rule', values: ['color-contrast', 'link-in-text-block']}`
)

// runAxe checks the page with axe-core by rules. It fetches no file again, which the policies of the pages forbid.
const runAxe = `axe.run(document, {
	preload: false, resultTypes: ['violations'], runOnly: %s,
}).then(found => found.violations.map(({id, help, nodes}) => ({
	id, help, nodes: nodes.slice(0, 3).map(({html, failureSummary}) => ({html: html.slice(0, 300), failureSummary})),
})))`

// axe returns the findings of axe-core on the page that the tab shows, by all rules or by the rules of colours.
func (b *tab) axe(all bool) []violation {
	b.t.Helper()
	source, err := axeSource()
	require.NoError(b.t, err, "make browse installs axe-core")
	if !evaluate[bool](b, "Boolean(window.axe)") {
		ctx, cancel := b.within()
		defer cancel()
		graphtest.OK(b.t)(chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](source)))
	}
	rules := colourRules
	if all {
		rules = allRules
	}
	return evaluate[[]violation](b, fmt.Sprintf(runAxe, rules))
}

// Bytes of a page on a phone of two pixels a point: without pictures, and with all of them.
const maxWithout, maxWith = 60_000, 300_000

// loadAll scrolls a page to its end, so that pictures that load when they are seen load, and waits for all.
const loadAll = `(async () => {
	for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
		scrollTo(0, y);
		await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
	}
	await Promise.all([...document.images].map(found => found.complete || new Promise(resolve => {
		found.onload = found.onerror = resolve;
		found.loading = 'eager';
	})));
	return document.images.length;
})()`

// On a phone, every page that stoa seed fills loads few bytes and fits the width.
func TestWeightOfSeededPages(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := graphtest.Got(start(graphtest.NewDatabase(t)))(t)
	t.Cleanup(s.stop)
	require.NoError(t, sample.Fill(t.Context(), sample.Config{URL: s.public, Agents: 12, Out: io.Discard}))
	todo := []string{s.public + "/"}
	for i := 0; i < len(todo); i++ {
		b := newTab(t)
		found := b.weigh(todo[i])
		assert.LessOrEqual(t, found.without, maxWithout, todo[i])
		assert.LessOrEqual(t, found.without+found.pictures, maxWith, todo[i])
		assert.Empty(t, check[[]string](b, "layout()"), todo[i])
		assert.Empty(t, b.takeComplaints(), todo[i])
		for _, link := range check[[]string](b, "links()") {
			path, _, _ := strings.Cut(strings.TrimPrefix(link, s.public), "#")
			if sections.MatchString(path) && !strings.HasSuffix(path, ".atom") && !slices.Contains(todo, s.public+path) {
				todo = append(todo, s.public+path)
			}
		}
		b.do(chromedp.Navigate("about:blank"))
	}
	require.Greater(t, len(todo), 40, "the pages were found")
}

// sections match the paths of the pages of the site.
var sections = regexp.MustCompile(`^/(@|(posts|tasks|services|search)\b)`)

// weight counts the transferred bytes of a page.
type weight struct{ without, pictures int }

// weigh opens a page on a phone without a cache.
func (b *tab) weigh(address string) (found weight) {
	b.t.Helper()
	var mu sync.Mutex
	kinds := map[network.RequestID]network.ResourceType{}
	require.NoError(b.t, chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventResponseReceived:
			kinds[e.RequestID] = e.Type
		case *network.EventLoadingFinished:
			if kinds[e.RequestID] == network.ResourceTypeImage {
				found.pictures += int(e.EncodedDataLength)
			} else {
				found.without += int(e.EncodedDataLength)
			}
		}
	}))
	b.do(
		call(network.Enable, network.EnableParams{}), call(network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}),
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: phone, Height: 844, DeviceScaleFactor: 2, Mobile: true,
		}),
	)
	require.EqualValues(b.t, http.StatusOK, b.open(address), address)
	images := evaluate[int](b, loadAll)
	mu.Lock()
	defer mu.Unlock()
	require.Positive(b.t, images, address)
	return found
}
