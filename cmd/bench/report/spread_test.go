package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	require.Zero(t, NewSpread(nil))
	require.Equal(t, Spread{Median: 4, Rounds: 1}, NewSpread([]float64{4}))
	require.Equal(t, Spread{Median: 2, Error: 7, Rounds: 3}, NewSpread([]float64{9, 1, 2}), "too few rounds for an interval")
	twelve := []float64{50, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100}
	require.Equal(t, Spread{Median: 6.5, Error: 3.5, Rounds: 12}, NewSpread(twelve), "the interval leaves out the two values at each end")
}

func TestSpreadKeepsItsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.001, 1e6), 1, 20).Draw(r, "values")
		before := slices.Clone(values)
		s := NewSpread(values)
		require.Equal(r, before, values, "the caller's values stay as they were")
		require.GreaterOrEqual(r, s.Error, 0.0)
		require.LessOrEqual(r, s.Error, slices.Max(values)-slices.Min(values))
	})
}

func TestRatios(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{2, 0.5}, ratios([]float64{4, 1, 7}, []float64{2, 2}))
	require.Equal(t, []float64{3}, ratios([]float64{1, 6}, []float64{0, 2}), "a round without a result has no ratio")
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		median, err float64
		want        string
	}{
		{10336, 623, "10,300 ± 700"}, {0.753, 0.041, "0.75 ± 0.05"}, {0.7534, 0, "0.753 ± 0.000"}, {0.7534, 0.0002, "0.753 ± 0.001"},
		{1234567, 10, "1,230,000 ± 10,000"}, {3, 4, "3 ± 4"}, {0.9, 1.2, "1 ± 2"}, {88, 0.2, "88.0 ± 0.2"}, {0, 0, "0.00 ± 0.00"}, {999.6, 100, "1,000 ± 100"},
	} {
		require.Equal(t, c.want, number(Spread{c.median, c.err, 12}))
	}
	require.Equal(t, "–", number(Spread{}))
	require.Equal(t, "88", number(Spread{Median: 87.6, Rounds: 1}))
}

func TestDuration(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1.18 ± 0.06 ms", duration(Spread{1182, 57, 12}))
	require.Equal(t, "286 ± 9 µs", duration(Spread{286.3, 9, 12}))
	require.Equal(t, "–", duration(Spread{}))
	for us, want := range map[float64]string{0: "0.0 µs", 7.891: "7.9 µs", 999: "1,000 µs", 45678: "46 ms", 2e6: "2.0 s", 22.4e6: "22 s"} {
		require.Equal(t, want, singleDuration(us))
	}
}
