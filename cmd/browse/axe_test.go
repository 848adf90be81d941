//go:build browse

package browse_test

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/chromedp/chromedp"
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
	// colourRules are the rules among them that check colours.
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
		_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](source))
		require.NoError(b.t, err)
	}
	rules := colourRules
	if all {
		rules = allRules
	}
	return evaluate[[]violation](b, fmt.Sprintf(runAxe, rules))
}
