package curve

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stoa/cmd/bench/scenarios"
	"stoa/cmd/prove/report"
)

//go:embed chapter.md.tmpl
var chapterText string

var chapter = report.Template("curve", chapterText)

// Result holds the data of the chapter.
type Result struct {
	report.Origin
	Plan

	Agents int
	Points []Point
}

// way is one way of measuring: servers with or without a bound.
type way struct {
	ServerCores float64
	Rows        []row
	// disturbed says that other programs were at work.
	disturbed bool
	// Verdict says what limits the most servers, and what they bring beside the fewest.
	Verdict string
}

// row is a number of servers.
type row struct {
	Processes int
	Points    []Point
	Knee      Point
	Wall      string
}

// Mix says what the load consists of.
func (*Result) Mix() string { return scenarios.DescribeMix() }

// Parts are the parts that use the processor.
func (*Result) Parts() []string { return parts }

// Ways are the ways of measuring, that without a bound first.
func (r *Result) Ways() (ways []way) {
	for len(ways) == 0 || ways[len(ways)-1].ServerCores < r.ServerCores {
		w := way{}
		if len(ways) > 0 {
			w.ServerCores = r.ServerCores
		}
		for _, processes := range r.Processes {
			points := slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool {
				return p.Processes != processes || p.ServerCores != w.ServerCores
			})
			one := row{Processes: processes, Points: points, Knee: Knee(points)}
			var why string
			one.Wall, why = Wall(one.Knee, r.Machine.Cores)
			w.Verdict = fmt.Sprintf("**The limit is %s**: %s.", one.Wall, why)
			w.Rows = append(w.Rows, one)
			w.disturbed = w.disturbed || !one.Knee.alone()
		}
		if most, fewest := w.Rows[len(w.Rows)-1], w.Rows[0]; most.Processes > fewest.Processes {
			w.Verdict += fmt.Sprintf(" %s answer %.1f times as much as %s.", of(most.Processes),
				highest(most.Points)/highest(fewest.Points), of(fewest.Processes))
		}
		if w.disturbed {
			w.Verdict += " Other programs, or the host of the machine, took much of the processor meanwhile, so the figures are too low."
		}
		ways = append(ways, w)
	}
	return ways
}

// of counts servers.
func of(processes int) string {
	if processes == 1 {
		return "1 server"
	}
	return strconv.Itoa(processes) + " servers"
}

func highest(points []Point) float64 { return slices.MaxFunc(points, byRate).PerSecond }

// Chapter is the chapter of the page, with its chart.
func (r *Result) Chapter() (report.Chapter, error) {
	text, err := report.Fill(chapter, r)
	if err != nil {
		return report.Chapter{}, err
	}
	panels := report.Panels{Title: "How far one database goes", Columns: 2, Description: r.describe()}
	var latencies []report.Panel
	for _, w := range r.Ways() {
		bound := "servers without a bound"
		if w.ServerCores > 0 {
			bound = fmt.Sprintf("servers of %g cores each", w.ServerCores)
		}
		rate := report.Panel{Title: "requests/s by connections, " + bound, Marks: r.marks()}
		latency := report.Panel{Title: "99th percentile in ms, " + bound, Marks: r.marks()}
		for _, one := range w.Rows {
			line := report.Line{Label: of(one.Processes)}
			slow := line
			for i, p := range one.Points {
				at := rate.Marks[i].At
				line.X, line.Y = append(line.X, at), append(line.Y, p.PerSecond)
				slow.X, slow.Y = append(slow.X, at), append(slow.Y, p.P99.Seconds()*1000)
			}
			rate.Lines, latency.Lines = append(rate.Lines, line), append(latency.Lines, slow)
		}
		panels.Panels, latencies = append(panels.Panels, rate), append(latencies, latency)
	}
	panels.Panels = append(panels.Panels, latencies...)
	drawn, err := panels.Draw()
	return report.Chapter{Name: report.CurveChapter, Text: text, Chart: drawn}, err
}

// marks place the numbers of connections at equal distances.
func (r *Result) marks() (marks []report.Mark) {
	for i, connections := range r.Connections {
		marks = append(marks, report.Mark{At: float64(i) / float64(max(len(r.Connections)-1, 1)), Label: strconv.Itoa(connections)})
	}
	return marks
}

// describe says in words what the chart shows.
func (r *Result) describe() string {
	var text strings.Builder
	for _, w := range r.Ways() {
		for _, one := range w.Rows {
			bound := ""
			if w.ServerCores > 0 {
				bound = fmt.Sprintf(" of %g cores each", w.ServerCores)
			}
			fmt.Fprintf(&text, "%.0f requests a second are answered by %s%s. ", highest(one.Points), of(one.Processes), bound)
		}
	}
	return text.String()
}
