package soak

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hour is an hour of samples of one figure, by the minute.
func hour(figure func(minute float64) float64) []sample {
	var samples []sample
	for at := time.Duration(0); at <= time.Hour; at += interval {
		samples = append(samples, sample{at: at, values: map[string]float64{"figure": figure(at.Minutes())}})
	}
	return samples
}

func judged(samples []sample, b bound) Trend {
	return newTrend("figure", samples, func(s sample) float64 { return s.values["figure"] }, b)
}

// Robust slopes are those of the course, whatever some samples are.
func TestSlope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		figure func(minute float64) float64
		slope  float64
		within float64
	}{
		"level":     {func(float64) float64 { return 7 }, 0, 0},
		"growth":    {func(m float64) float64 { return 5 + m }, 60, 0.001},
		"decline":   {func(m float64) float64 { return 500 - m }, -60, 0.001},
		"outliers":  {func(m float64) float64 { return m + 1000*float64(int(m*4)%9/8) }, 60, 1},
		"noise":     {func(float64) float64 { return 100 + 10*rand.Float64() }, 0, 3},
		"saw teeth": {func(m float64) float64 { return float64(int(m*60) % 70) }, 0, 8},
	} {
		x, y := []float64{}, []float64{}
		for _, s := range hour(c.figure) {
			x, y = append(x, s.at.Hours()), append(y, s.values["figure"])
		}
		require.InDelta(t, c.slope, slope(x, y), c.within, name)
	}
	require.Zero(t, slope([]float64{1}, []float64{2}))
	require.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
}

// A leak of a unit a minute is found; growth up to a fixed size is not, nor is growth that a short run cannot show.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	leak := hour(func(m float64) float64 { return 100 + m })
	require.True(t, judged(leak, bound{20, 0.1}).Grows())
	require.True(t, judged(leak, bound{70, 0.1}).Flat(), "within its bound")
	require.True(t, judged(leak, bound{1, 0.7}).Flat(), "within the share of its beginning")

	settling := hour(func(m float64) float64 { return 100 + 100*min(m, 9) })
	require.True(t, judged(settling, bound{20, 0.1}).Flat())
	require.True(t, judged(steady(settling, time.Hour), bound{0.001, 0}).Flat(), "the first sixth is left away")

	short := judged(leak[:8], bound{20, 0.1})
	require.False(t, short.Flat())
	require.False(t, short.Grows())

	tr := judged(leak, bound{20, 0.1})
	require.InDelta(t, 105, tr.Start, 2)
	require.InDelta(t, 130, tr.Middle, 2)
	require.InDelta(t, 155, tr.End, 2)
}

// What grows is named, and the table says of every figure its verdict.
func TestTable(t *testing.T) {
	t.Parallel()
	w := new(Watch)
	for at := time.Duration(0); at <= time.Hour; at += interval {
		w.samples = append(w.samples, sample{at: at, values: map[string]float64{
			"goroutines of server-1": 100, "goroutines of server-2": 100 + at.Seconds(), "jobs to be done": 3,
		}})
	}
	table, grow := Table(w.Trends(time.Hour))
	require.Equal(t, []string{"goroutines of server-2"}, grow)
	require.Contains(t, table.Rows, []string{"goroutines of server-1", "100.00", "100.00", "100.00", "0.00", "20.00", "flat"})
	require.Contains(t, table.Rows, []string{"jobs to be done", "3.00", "3.00", "3.00", "0.00", "5.00", "flat"})
	require.Empty(t, new(Watch).Trends(time.Hour))
}
