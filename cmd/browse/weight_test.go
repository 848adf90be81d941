//go:build browse

package browse_test

import (
	"io"
	"net/http"
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

// Every page of the place that stoa seed makes is light on a phone, with everything that it loads, and fits its width.
func TestWeightOfThePlace(t *testing.T) {
	nightly(t)
	t.Parallel()
	s, err := start(graphtest.NewDatabase(t))
	require.NoError(t, err)
	t.Cleanup(s.stop)
	require.NoError(t, sample.Fill(t.Context(), sample.Filling{Config: sample.Config{URL: s.public}, Agents: 12, Out: io.Discard}))
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

// weight counts the bytes on the line that a page loads.
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
