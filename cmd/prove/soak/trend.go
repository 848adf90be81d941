package soak

import (
	"slices"
	"time"
)

// Trend is how a figure developed. Start, Middle and End are medians of its first, middle and last fifth.
type Trend struct {
	Name               string
	Start, Middle, End float64
	// Slope is its robust growth in an hour, Bound what that may be.
	Slope, Bound float64

	// hours is the length of the observation, chance the growth in that time that may be chance.
	hours, chance float64
}

// Flat reports whether the figure grows within its bound. One that shrinks is flat.
func (t Trend) Flat() bool { return t.Slope <= t.Bound }

// Grows reports whether the figure grows by more than its bound, and by more than chance can do. What is neither flat nor grows needs a
// longer run.
func (t Trend) Grows() bool { return !t.Flat() && t.Slope*t.hours > t.chance }

// warmUp is the part of a run that is left away: pools, caches and tables grow into their sizes then.
const warmUp = 1.0 / 6

// bound is how much a figure may grow in an hour: by an amount, or by a share of itself, whichever is more. The amount is also what
// chance can do in a run of any length.
type bound struct{ amount, share float64 }

// newTrend judges a figure of at least one sample.
func newTrend(name string, samples []sample, figure func(sample) float64, b bound) Trend {
	x, y := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		x[i], y[i] = s.at.Hours(), figure(s)
	}
	fifth := max(len(y)/5, 1)
	middle := (len(y) - fifth) / 2
	t := Trend{
		Name: name, Start: median(y[:fifth]), Middle: median(y[middle : middle+fifth]), End: median(y[len(y)-fifth:]), Slope: slope(x, y),
		hours: x[len(x)-1] - x[0], chance: b.amount,
	}
	t.Bound = max(b.amount, b.share*t.Start)
	return t
}

// steady returns the samples after the warm-up of a run of a length.
func steady(samples []sample, length time.Duration) []sample {
	first := slices.IndexFunc(samples, func(s sample) bool { return s.at.Seconds() >= warmUp*length.Seconds() })
	return samples[max(first, 0):]
}

// slope is the Theil–Sen estimate: the median of the slopes between each two points, 0 if there is one point.
func slope(x, y []float64) float64 {
	var all []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				all = append(all, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	return median(all)
}

// median is that of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
