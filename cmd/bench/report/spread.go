package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"
)

// Spread is the median of a figure over rounds, with its uncertainty: the 95 % confidence interval of the median lies within
// Median ± Error. Where there are too few rounds for one (less than 6), all values do. A single value has no known error.
type Spread struct {
	Median, Error float64
	Rounds        int
}

const confidence = 0.95

// NewSpread summarizes the values of rounds. Of no values it is zero.
func NewSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	summary := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	low, high := max(summary.Lo, slices.Min(values)), min(summary.Hi, slices.Max(values))
	return Spread{Median: summary.Center, Error: max(summary.Center-low, high-summary.Center), Rounds: len(values)}
}

// ratios divides the values of the same round.
func ratios(values, by []float64) []float64 {
	quotients := make([]float64, 0, len(values))
	for i, value := range values {
		if i < len(by) && by[i] != 0 {
			quotients = append(quotients, value/by[i])
		}
	}
	return quotients
}

// microseconds converts durations.
func microseconds(durations []time.Duration) []float64 {
	values := make([]float64, len(durations))
	for i, d := range durations {
		values[i] = micros(d)
	}
	return values
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// singleDigits is the number of significant digits of a single value, maxDigits that of any value.
const (
	singleDigits = 2
	maxDigits    = 3
)

// number writes a figure as "10,300 ± 600": the last digit of the median is the first one of the error.
func number(s Spread) string {
	if s.Rounds == 0 {
		return "–"
	}
	if s.Rounds == 1 {
		return single(s.Median)
	}
	place := exponent(s.Median) - maxDigits + 1
	if s.Error > 0 {
		place = max(place, exponent(s.Error))
	}
	unit := math.Pow10(place)
	return decimal(math.Round(s.Median/unit)*unit, place) + " ± " + decimal(max(math.Ceil(s.Error/unit-1e-9), 0)*unit, place)
}

// single writes a value with only one measurement.
func single(x float64) string {
	place := exponent(x) - singleDigits + 1
	unit := math.Pow10(place)
	return decimal(math.Round(x/unit)*unit, place)
}

// exponent is that of the first significant digit.
func exponent(x float64) int {
	if x == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(x))))
}

// decimal writes a number down to the digit of 10^place, with commas.
func decimal(x float64, place int) string {
	if x < 0 {
		return "-" + decimal(-x, place)
	}
	whole, fraction, found := strings.Cut(strconv.FormatFloat(x, 'f', max(-place, 0), 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		return whole + "." + fraction
	}
	return whole
}

// scaled divides a spread.
func (s Spread) scaled(by float64) Spread { return Spread{s.Median / by, s.Error / by, s.Rounds} }

// duration writes microseconds in a unit that suits them.
func duration(s Spread) string {
	if s.Rounds == 0 {
		return "–"
	}
	size, unit := durationUnit(s.Median)
	return number(s.scaled(size)) + " " + unit
}

// singleDuration writes microseconds with only one measurement.
func singleDuration(us float64) string {
	size, unit := durationUnit(us)
	return single(us/size) + " " + unit
}

func durationUnit(us float64) (size float64, unit string) {
	switch {
	case us >= 1e6:
		return 1e6, "s"
	case us >= 1e3:
		return 1e3, "ms"
	default:
		return 1, "µs"
	}
}

// megabytes writes bytes.
func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

// count writes a whole number with commas.
func count(n int) string { return decimal(float64(n), 0) }
