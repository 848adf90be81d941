package report

import (
	"fmt"
	"math"
	"strconv"
)

// Shares of a distribution.
const (
	half = 0.5
	most = 0.99
)

// duration writes microseconds with three digits, as µs, ms or s.
func duration(us float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"s", 1e6}, {"ms", 1e3}} {
		if us >= unit.size {
			return digits(us/unit.size) + " " + unit.name
		}
	}
	return digits(us) + " µs"
}

// digits writes a number with three significant digits.
func digits(x float64) string {
	if x == 0 {
		return "0"
	}
	after := max(2-int(math.Floor(math.Log10(math.Abs(x)))), 0)
	return strconv.FormatFloat(x, 'f', min(after, 3), 64)
}

// count writes a whole number with commas.
func count(x float64) string {
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ratio writes a share with its spread.
func ratio(s Spread) string {
	if s.Rounds == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Least, s.Most)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
