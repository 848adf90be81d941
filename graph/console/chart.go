package console

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// chartData holds the counts within a window, as bars.
type chartData struct {
	// ID is for the page's attributes, Label names the bars, and Highest describes them.
	ID, Label, Highest string
	// Total is the formatted sum.
	Total string
	Bars  []bar
}

// bar is a part of a window.
type bar struct {
	// When is the start of the part.
	When value
	// Figure is the formatted number, and n the number.
	Figure string
	n      int64
	// X, Y, Width and Height are its position in a view box of chartWidth and chartHeight.
	X, Y, Width, Height float64
}

// Sizes of a chart, in units of its view box. The template names them too.
const chartWidth, chartHeight = 240, 56

// measured lists the figures of the overview's activity, by their field.
var measured = []struct{ Title, Path, Field, Unit string }{
	{"Agents", "/agents", "agents", "registered"}, {"Messages", "/messages", "messages", "sent"}, {"Orders", "/orders", "orders", "made"},
	{"Credits", "/ledger?kind=payment", "creditsMinor", "paid to contractors"},
}

// newChart makes the chart of a figure from a window of GraphQL's Activity.
func newChart(title, unit, field string, window map[string]any) chartData {
	name := textOf(window, "window")
	c := chartData{ID: field + "-" + name, Label: fmt.Sprintf("%s %s within the last %s", title, unit, name), Highest: "Nothing happened."}
	begins, _ := time.Parse(time.RFC3339, textOf(window, "begins")) // the schema guarantees a time
	list, _ := window[field].([]any)
	var sum, most int64
	for i, one := range list {
		b := bar{When: timeValue(begins.Add(time.Duration(i)*time.Duration(whole(window["stepSeconds"]))*time.Second), true), n: whole(one)}
		b.Figure = number(field, one)
		sum += b.n
		if b.n > most {
			most = b.n
			c.Highest = fmt.Sprintf("%d bars; the highest, %s, began at %s, UTC.", len(list), b.Figure, b.When.Text)
		}
		c.Bars = append(c.Bars, b)
	}
	c.Total = number(field, json.Number(strconv.FormatInt(sum, 10)))
	step := float64(chartWidth) / float64(max(1, len(c.Bars)))
	for i := range c.Bars {
		if b := &c.Bars[i]; b.n > 0 {
			b.Height = max(2, float64(b.n)/float64(most)*(chartHeight-4))
			b.X, b.Y, b.Width = float64(i)*step+1, chartHeight-1-b.Height, step-2
		}
	}
	return c
}
