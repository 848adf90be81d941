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
	require.Equal(t, Spread{Median: 4, Least: 4, Most: 4, Rounds: 1}, NewSpread([]float64{4}))
	require.Equal(t, Spread{Median: 2, Least: 1, Most: 9, Rounds: 3}, NewSpread([]float64{9, 1, 2}))
	require.Equal(t, Spread{Median: 2.5, Least: 1, Most: 9, Rounds: 4}, NewSpread([]float64{9, 1, 2, 3}))
}

func TestSpreadHoldsItsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.001, 1e6), 1, 20).Draw(r, "values")
		before := slices.Clone(values)
		s := NewSpread(values)
		require.Equal(r, before, values, "the caller's values stay as they were")
		require.LessOrEqual(r, s.Least, s.Median)
		require.LessOrEqual(r, s.Median, s.Most)
	})
}

func TestQuotients(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{2, 0.5}, Quotients([]float64{4, 1, 7}, []float64{2, 2}))
	require.Equal(t, []float64{3}, Quotients([]float64{1, 6}, []float64{0, 2}), "a round without a result compares with nothing")
}
