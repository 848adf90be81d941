package report

import (
	_ "embed"
	"fmt"
	"html"
	"math"
	"strings"
	"text/template"
)

// Panels are small charts side by side.
type Panels struct {
	// Title and Description say what is drawn, the latter in full sentences.
	Title, Description string
	// Columns is the number of charts in a row.
	Columns int
	Panels  []Panel
}

// Panel is one chart.
type Panel struct {
	Title string
	// Marks are the labels below the chart, each at its place from 0 (left) to 1.
	Marks []Mark
	// Lines are at most four.
	Lines []Line
}

// Mark is a label on the horizontal axis.
type Mark struct {
	At    float64
	Label string
}

// Line is a series. X lies between 0 and 1.
type Line struct {
	Label string
	X, Y  []float64
}

// The measures of a panel in pixels.
const (
	panelHeight = 190
	panelTop    = 48
	panelLeft   = 48
	panelRight  = 14
	panelFoot   = 42
	panelsHead  = 36
)

//go:embed panels.svg.tmpl
var panelsText string

var panelsTemplate = template.Must(template.New("panels").Funcs(template.FuncMap{"text": html.EscapeString}).Parse(panelsText))

// drawing and frame hold the data of the template, in pixels.
type drawing struct {
	Title, Description string
	Width, Height      int
	Frames             []frame
}

type frame struct {
	X, Y, Right, Bottom  float64
	Title                string
	Horizontal, Vertical []tick
	Lines                []stroke
}

type stroke struct {
	Class, Label, Path string
	LabelX             float64
}

// Draw returns the charts as SVG.
func (p *Panels) Draw() (string, error) {
	rows := (len(p.Panels) + p.Columns - 1) / p.Columns
	d := drawing{Title: p.Title, Description: p.Description, Width: chartWidth, Height: panelsHead + rows*panelHeight}
	width := float64(chartWidth) / float64(p.Columns)
	for i := range p.Panels {
		d.Frames = append(d.Frames, p.Panels[i].frame(float64(i%p.Columns)*width, panelsHead+float64(i/p.Columns)*panelHeight, width))
	}
	return Fill(panelsTemplate, &d)
}

func (p *Panel) frame(left, top, width float64) frame {
	f := frame{X: left + panelLeft, Y: top, Right: left + width - panelRight, Bottom: top + panelHeight - panelFoot, Title: p.Title}
	highest := 0.0
	for _, l := range p.Lines {
		for _, v := range l.Y {
			highest = max(highest, v)
		}
	}
	end, step := panelScale(highest)
	y := func(v float64) float64 { return f.Bottom - (f.Bottom-top-panelTop)*v/end }
	for n := 0; float64(n)*step <= end*(1+1e-9); n++ {
		f.Horizontal = append(f.Horizontal, tick{y(float64(n) * step), short(float64(n) * step)})
	}
	for _, m := range p.Marks {
		f.Vertical = append(f.Vertical, tick{f.X + (f.Right-f.X)*m.At, m.Label})
	}
	labelX := f.X
	for i, l := range p.Lines {
		var path strings.Builder
		for k := range l.Y {
			fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: " L"}[k == 0], f.X+(f.Right-f.X)*l.X[k], y(l.Y[k]))
		}
		f.Lines = append(f.Lines, stroke{Class: fmt.Sprintf("line%d", i), Label: l.Label, Path: path.String(), LabelX: labelX})
		labelX += letter*float64(len(l.Label)) + 32
	}
	return f
}

// panelScale returns the top of an axis and the step between its two to four marks: 1, 2 or 5 times a power of ten.
func panelScale(highest float64) (top, step float64) {
	if highest <= 0 {
		return 1, 1
	}
	power := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, times := range []float64{0.2, 0.5, 1, 2, 5} {
		if step = power * times; highest/step <= 4 {
			break
		}
	}
	return step * math.Ceil(highest/step*(1-1e-9)), step
}

// short writes the figure at a mark.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
