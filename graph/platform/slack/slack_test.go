package slack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOnlyANumberAboveOneStretches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"": 1, "1": 1, "0.5": 1, "-3": 1, "NaN": 1, "fast": 1, "2,5": 1, "2.5": 2.5, "3": 3, "1000": largest, "+Inf": largest,
	} {
		require.InDelta(t, want, parse(text), 0, text)
	}
}

func TestTheFactorIsMeasuredOnAllProcessors(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, Measure(time.Nanosecond), 1.0)
	require.InDelta(t, 1, Measure(time.Hour), 0, "a fast machine is not sped up")
}
