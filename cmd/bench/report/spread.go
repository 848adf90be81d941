package report

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// Spread is what several rounds of one measurement came to.
type Spread struct {
	Median, Least, Most float64
	Rounds              int
}

// confidence of the interval that benchmath computes; only its centre is shown.
const confidence = 0.95

// NewSpread of no values is zero.
func NewSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	summary := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	return Spread{Median: summary.Center, Least: slices.Min(values), Most: slices.Max(values), Rounds: len(values)}
}

// Quotients divides what was measured in the same round.
func Quotients(values, by []float64) []float64 {
	quotients := make([]float64, 0, len(values))
	for i, value := range values {
		if i < len(by) && by[i] != 0 {
			quotients = append(quotients, value/by[i])
		}
	}
	return quotients
}
