package soak

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/report"
)

//go:embed chapter.md.tmpl
var chapterText string

var chapter = report.Template("soak", chapterText)

// Result holds the results of a soak.
type Result struct {
	report.Origin
	Plan

	Agents int
	// Knee is the rate at the knee, 0 if it was not measured.
	Knee     float64
	Load     load.Sample
	Heard    *mix.Heard
	Failures *mix.Failures

	Trends  []Trend
	Tables  []Table
	Growths []Growth

	servers []string
	samples []sample
	uploads int
}

// Growth compares the rows of a table, or files, with the operations that add them.
type Growth struct {
	Name, Operation        string
	Operations, Each, Rows int
}

// Right reports whether each operation has added what it must.
func (g Growth) Right() bool { return g.Rows == g.Operations*g.Each }

// Mix says what the load consists of.
func (*Result) Mix() string { return scenarios.DescribeMix() }

// Uploads counts the files that were uploaded.
func (r *Result) Uploads() int { return r.uploads }

// Failed counts the requests and sockets that failed.
func (r *Result) Failed() int {
	n, _ := r.Failures.All()
	return n
}

// FirstFailures are the first of them.
func (r *Result) FirstFailures() []string {
	_, first := r.Failures.All()
	return first
}

// Faults lists what is wrong; it is empty if the servers release everything.
func (r *Result) Faults() (faults []string) {
	for _, t := range r.judged() {
		if t.Grows() {
			faults = append(faults, fmt.Sprintf("%s: grows by %s an hour", t.Name, figure(t.Slope)))
		}
	}
	for _, g := range r.Growths {
		if !g.Right() {
			faults = append(faults, fmt.Sprintf("%s: %d more after %d %s", g.Name, g.Rows, g.Operations, g.Operation))
		}
	}
	if n := r.Failed(); n > 0 {
		faults = append(faults, fmt.Sprintf("%d requests or sockets failed", n))
	}
	return faults
}

// judged are all trends that must be flat.
func (r *Result) judged() []Trend {
	all := slices.Clone(r.Trends)
	for _, t := range r.Tables {
		all = append(all, t.Judged()...)
	}
	return all
}

// Unclear counts the figures that the run is too short to judge.
func (r *Result) Unclear() (n int) {
	for _, t := range r.judged() {
		if !t.Flat() && !t.Grows() {
			n++
		}
	}
	return n
}

// Err returns an error that lists the faults.
func (r *Result) Err() error {
	if faults := r.Faults(); len(faults) > 0 {
		return errors.New("not as it must be: " + strings.Join(faults, "; "))
	}
	return nil
}

// Chapter is the chapter of the page, with its chart.
func (r *Result) Chapter() (report.Chapter, error) {
	text, err := report.Fill(chapter, r)
	if err != nil {
		return report.Chapter{}, err
	}
	drawn, err := r.panels().Draw()
	return report.Chapter{Name: report.SoakChapter, Text: text, Chart: drawn}, err
}

// panels are a chart for each measure, with a line for each server where it is theirs, and charts of the tables.
func (r *Result) panels() *report.Panels {
	p := &report.Panels{Title: "What was held under a steady load, by minutes", Columns: 3, Description: r.describe()}
	for _, m := range measures {
		panel := r.panel(m.name)
		names, labels := m.names(r.servers)
		for i, name := range names {
			panel.Lines = append(panel.Lines, r.line(labels[i], func(s sample) float64 { return m.of(s, name) }))
		}
		p.Panels = append(p.Panels, panel)
	}
	dead := r.panel("dead rows")
	for _, t := range r.mostDead() {
		dead.Lines = append(dead.Lines, r.line(t, func(s sample) float64 { return s.tables[t].dead }))
	}
	size := r.panel("size of the outbox (events), MiB")
	size.Lines = []report.Line{r.line("", func(s sample) float64 { return s.tables["events"].bytes / mebibyte })}
	files := r.panel(storedFiles)
	files.Lines = []report.Line{r.line("", func(s sample) float64 { return s.values[storedFiles] })}
	p.Panels = append(p.Panels, dead, size, files)
	return p
}

func (r *Result) panel(title string) report.Panel {
	last := r.Length.Minutes()
	return report.Panel{Title: strings.TrimSuffix(title, ","), Marks: []report.Mark{
		{At: 0, Label: "0"}, {At: 0.5, Label: fmt.Sprintf("%g", last/2)}, {At: 1, Label: fmt.Sprintf("%g", last)},
	}}
}

func (r *Result) line(label string, figure func(sample) float64) report.Line {
	l := report.Line{Label: label}
	for _, s := range r.samples {
		l.X, l.Y = append(l.X, min(s.at.Seconds()/r.Length.Seconds(), 1)), append(l.Y, figure(s))
	}
	return l
}

// mostDead are the three tables with the most dead rows at any time.
func (r *Result) mostDead() []string {
	most := make(map[string]float64)
	for _, s := range r.samples {
		for name, t := range s.tables {
			most[name] = max(most[name], t.dead)
		}
	}
	names := slices.SortedFunc(maps.Keys(most), func(a, b string) int { return int(most[b] - most[a]) })
	return names[:min(len(names), 3)]
}

// describe says in words what the charts show.
func (r *Result) describe() string {
	if faults := r.Faults(); len(faults) > 0 {
		return "Over " + r.Length.String() + ": " + strings.Join(faults, "; ") + "."
	}
	return fmt.Sprintf("Over %s nothing grows that must be flat.", r.Length.Round(time.Second))
}

// figure writes a figure with as many digits as it deserves.
func figure(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v > -10 && v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Figures writes those of a trend.
func (t Trend) Figures() string {
	return fmt.Sprintf("%s | %s | %s | %+.2f | %s", figure(t.Start), figure(t.Middle), figure(t.End), t.Slope, figure(t.Bound))
}

// Verdict returns the verdict in words.
func (t Trend) Verdict() string { return verdict(t) }

// Verdict returns the worst verdict of a table's figures.
func (t Table) Verdict() string { return verdict(t.Judged()...) }

// Verdict returns the verdict in words.
func (g Growth) Verdict() string {
	if g.Right() {
		return "as written"
	}
	return "**differs**"
}

func verdict(all ...Trend) string {
	switch {
	case slices.ContainsFunc(all, Trend.Grows):
		return "**grows**"
	case slices.ContainsFunc(all, func(t Trend) bool { return !t.Flat() }):
		return "too short to tell"
	}
	return "flat"
}

// Megabytes writes the sizes of a table.
func (t Table) Megabytes() string {
	return fmt.Sprintf("%.1f → %.1f MiB", t.Bytes.Start/mebibyte, t.Bytes.End/mebibyte)
}
