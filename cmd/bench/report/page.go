package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"stoa/cmd/bench/compare"
)

//go:embed page.md.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"count":     func(n int) string { return count(float64(n)) },
	"kilobytes": func(bytes float64) float64 { return bytes / 1000 },
	"percent":   func(share float64) float64 { return 100 * share },
}).Parse(pageText))

// Page writes the whole of it as Markdown.
func (d *Data) Page(to io.Writer) error { return page.Execute(to, d) }

// grows is the factor of PostgreSQL's time from the smallest to the largest size from which a path is named.
const grows = 1.5

// Growing names the paths that cost more as the number of agents grows.
func (d *Data) Growing() string {
	if len(d.Growth) < 2 {
		return ""
	}
	small, large := d.Growth[0], d.Growth[len(d.Growth)-1]
	var named []string
	for _, p := range measured(small.Results) {
		before := of(small.Results, p.Name, compare.Server, d.GrownConnections, postgres)
		after := of(large.Results, p.Name, compare.Server, d.GrownConnections, postgres)
		if before.Median > 0 && after.Median > grows*before.Median {
			named = append(named, fmt.Sprintf("%s by %.1f", p.What, after.Median/before.Median))
		}
	}
	if len(named) == 0 {
		return fmt.Sprintf("No path's time in PostgreSQL grows by more than %.1f times from the first size to the last.", grows)
	}
	return fmt.Sprintf("What grows (time in PostgreSQL, from the first size to the last): %s times. The rest grows by less than %.1f times.",
		strings.Join(named, ", "), grows)
}
