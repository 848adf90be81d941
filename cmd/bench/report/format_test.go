package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for us, want := range map[float64]string{
		0: "0 µs", 0.1234: "0.123 µs", 7.891: "7.89 µs", 45.67: "45.7 µs", 999: "999 µs", 1000: "1.00 ms", 45678: "45.7 ms", 2e6: "2.00 s",
	} {
		require.Equal(t, want, duration(us))
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0", 999.4: "999", 999.6: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, want, count(n))
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	require.Equal(t, "–", ratio(Spread{}))
	require.Equal(t, "0.83 (0.80–1.10)", ratio(Spread{Median: 0.834, Least: 0.8, Most: 1.1, Rounds: 3}))
}
