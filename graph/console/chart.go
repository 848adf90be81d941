package console

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// chartData holds the counts within a window, as bars.
type chartData struct {
	// ID is for the attributes of the page, Label what the bars are.
	ID, Label string
	// Total is the sum as people read it, and Unit what was counted.
	Total, Unit string
	Bars        []bar
	most        int64
}

// bar is a part of a window.
type bar struct {
	// When is the time at which the part began.
	When value
	// Figure is the value as people read it.
	Figure string
	value  int64
}

// newChart makes it of a window of GraphQL's Activity.
func newChart(title, unit, field string, window map[string]any) chartData {
	name, _ := window["window"].(string)
	stamp, _ := window["begins"].(string)
	begins, _ := time.Parse(time.RFC3339, stamp)
	shown := grouped
	if strings.HasSuffix(field, "Minor") {
		shown = credits
	}
	c := chartData{ID: field + "-" + name, Label: fmt.Sprintf("%s %s within the last %s", title, unit, name), Unit: unit}
	list, _ := window[field].([]any)
	var sum int64
	for i, one := range list {
		n := whole(one)
		sum += n
		c.most = max(c.most, n)
		at := begins.Add(time.Duration(i) * time.Duration(whole(window["stepSeconds"])) * time.Second)
		c.Bars = append(c.Bars, bar{When: timeValue(at, true), Figure: shown(n), value: n})
	}
	c.Total = shown(sum)
	return c
}

// Sizes of a chart, in units of its view box.
const (
	chartWidth  = 240
	chartHeight = 56
)

// chart draws the bars. Every text in it is of this program.
func chart(c chartData) template.HTML {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="chart" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-labelledby="%[3]s-title %[3]s-desc">`,
		chartWidth, chartHeight, c.ID)
	fmt.Fprintf(&out, `<title id="%[1]s-title">%[2]s: %[3]s</title><desc id="%[1]s-desc">%[4]s</desc>`,
		c.ID, template.HTMLEscapeString(c.Label), c.Total, template.HTMLEscapeString(c.describe()))
	fmt.Fprintf(&out, `<line class="base" x1="0" x2="%d" y1="%[2]d" y2="%[2]d"></line>`, chartWidth, chartHeight-1)
	step := float64(chartWidth) / float64(max(1, len(c.Bars)))
	for i, b := range c.Bars {
		if b.value == 0 {
			continue
		}
		height := max(2, float64(b.value)/float64(c.most)*(chartHeight-4))
		fmt.Fprintf(&out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %s</title></rect>`,
			float64(i)*step+1, chartHeight-1-height, step-2, height, template.HTMLEscapeString(b.When.Text), b.Figure)
	}
	out.WriteString("</svg>")
	return template.HTML(out.String()) //nolint:gosec // figures and texts of this program, escaped
}

// describe says what the bars show.
func (c chartData) describe() string {
	if c.most == 0 {
		return "Nothing happened."
	}
	for _, b := range c.Bars {
		if b.value == c.most {
			return fmt.Sprintf("%d bars; the highest, %s, began at %s, UTC.", len(c.Bars), b.Figure, b.When.Text)
		}
	}
	return ""
}
