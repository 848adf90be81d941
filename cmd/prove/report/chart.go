package report

import (
	_ "embed"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"

	"stoa/cmd/prove/history"
)

// The chart's measures in pixels. Labels of faults stand in lanes above the plot, as many as they need.
const (
	chartWidth = 1000
	plotLeft   = 56
	plotRight  = chartWidth - 24
	plotHeight = 240
	headHeight = 44
	footHeight = 64
	laneHeight = 16
	// letter is the width of a letter of a label, rounded up.
	letter = 6
	// points bounds how many averages a line has.
	points = 240
)

//go:embed chart.svg.tmpl
var chartText string

var chartTemplate = template.Must(template.New("chart").Funcs(template.FuncMap{"text": html.EscapeString}).Parse(chartText))

// chart holds the data of the template. All positions are in pixels.
type chart struct {
	Width, Height               int
	Left, Right, Top, Bottom    float64
	Description                 string
	Bands                       []band
	Horizontal, Vertical        []tick
	Area, Answered, Unavailable string
	TitleY, AxisY, LegendY      float64
}

// band is a fault: where it is in the plot, and where its label stands.
type band struct {
	X, Width       float64
	LabelX, LabelY float64
	Label, Class   string
}

type tick struct {
	At    float64
	Label string
}

func newChart(h *history.History) *chart {
	length := max(h.Length, time.Second)
	c := &chart{Width: chartWidth, Left: plotLeft, Right: plotRight, TitleY: 24}
	c.Bands = bands(inOrder(h.Faults), length)
	lanes := 0.0
	for _, b := range c.Bands {
		lanes = max(lanes, b.LabelY)
	}
	c.Top = headHeight + (lanes+1)*laneHeight
	for i := range c.Bands {
		c.Bands[i].LabelY = headHeight + (c.Bands[i].LabelY+0.5)*laneHeight
	}
	c.Bottom = c.Top + plotHeight
	c.AxisY, c.LegendY = c.Bottom+18, c.Bottom+44
	c.Height = int(c.Bottom) + footHeight

	answered, failed := rates(h, length)
	highest := slices.Max(answered)
	top, step := scale(max(highest, slices.Max(failed)))
	y := func(rate float64) float64 { return c.Bottom - plotHeight*rate/top }
	for v := 0.0; v <= top; v += step {
		c.Horizontal = append(c.Horizontal, tick{y(v), count(int(v))})
	}
	every := interval(length)
	for t := time.Duration(0); t <= length; t += every {
		c.Vertical = append(c.Vertical, tick{x(t, length), clock(t)})
	}
	c.Answered, c.Unavailable = line(answered, y), line(failed, y)
	c.Area = fmt.Sprintf("%s L%.1f %.1f L%.1f %.1f Z", c.Answered, plotRight*1.0, c.Bottom, plotLeft*1.0, c.Bottom)
	c.Description = describe(h, highest)
	return c
}

// PlotHeight is how high the plot is.
func (*chart) PlotHeight() int { return plotHeight }

func x(t, length time.Duration) float64 {
	return plotLeft + (plotRight-plotLeft)*min(max(t.Seconds()/length.Seconds(), 0), 1)
}

// bands places the faults, and their labels in lanes, the topmost being 0: each in the lowest lane that is free there.
func bands(faults []history.Fault, length time.Duration) []band {
	var all []band
	var ends []float64 // where the last label of each lane ends, lanes counted from the plot upwards
	for i, f := range faults {
		b := band{X: x(f.Start, length), Class: "fault", Label: fmt.Sprintf("%d %s", i+1, f.Name)}
		b.Width = max(x(f.End, length)-b.X, 2)
		if f.Graceful {
			b.Class = "graceful"
		}
		width := letter*float64(len([]rune(b.Label))) + 10
		b.LabelX = max(min(b.X, plotRight-width), plotLeft)
		lane := slices.IndexFunc(ends, func(end float64) bool { return end <= b.LabelX })
		if lane < 0 {
			lane, ends = len(ends), append(ends, 0)
		}
		ends[lane] = b.LabelX + width
		b.LabelY = float64(lane)
		all = append(all, b)
	}
	for i := range all {
		all[i].LabelY = float64(len(ends)-1) - all[i].LabelY
	}
	return all
}

// rates are the requests a second that ended in each part of the run: those that were answered, and those that failed.
func rates(h *history.History, length time.Duration) (answered, failed []float64) {
	width := max(length/points, time.Second)
	parts := int((length + width - 1) / width)
	answered, failed = make([]float64, parts), make([]float64, parts)
	for i := range h.Attempts {
		a := &h.Attempts[i]
		rate := answered
		if unavailable(a) {
			rate = failed
		}
		part := min(max(int(a.End/width), 0), parts-1)
		rate[part] += 1 / min(width, length-time.Duration(part)*width).Seconds()
	}
	return answered, failed
}

// line is the path of a series, level over each part.
func line(rates []float64, y func(float64) float64) string {
	var path strings.Builder
	width := float64(plotRight-plotLeft) / float64(len(rates))
	for i, rate := range rates {
		at := plotLeft + width*float64(i)
		fmt.Fprintf(&path, "%s%.1f %.1f H%.1f", map[bool]string{true: "M", false: " L"}[i == 0], at, y(rate), at+width)
	}
	return path.String()
}

// scale returns the top of an axis for values up to highest, and the step between its marks: 1, 2 or 5 times a power of ten.
func scale(highest float64) (top, step float64) {
	step = math.Pow(10, math.Floor(math.Log10(max(highest, 1))))
	for _, finer := range []float64{5, 2.5, 2} {
		if highest/(step/finer) <= 5 && step >= finer {
			step /= finer
			break
		}
	}
	return step * max(math.Ceil(highest/step), 1), step
}

// interval returns the time between two marks, so that there are at most 12.
func interval(length time.Duration) time.Duration {
	choices := []time.Duration{
		time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 30 * time.Minute,
	}
	for _, every := range choices {
		if length/every < 12 {
			return every
		}
	}
	return time.Hour
}

// describe says in words what the chart shows.
func describe(h *history.History, highest float64) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Up to %s requests a second were answered in a run of %s. Faults:", count(int(highest)), clock(h.Length))
	for i, f := range inOrder(h.Faults) {
		fmt.Fprintf(&text, " %d %s %s from %s to %s;", i+1, f.Name, f.Target, clock(f.Start), clock(f.End))
	}
	if len(h.Faults) == 0 {
		text.WriteString(" none.")
	}
	return strings.TrimSuffix(text.String(), ";")
}
