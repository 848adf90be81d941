package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCreditsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sum := rapid.Int64Min(0).Draw(t, "minor")
		read, ok := ParseCredits(Credits(sum))
		require.True(t, ok)
		require.Equal(t, sum, read)
	})
}

func TestParseCredits(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]int64{"12": 1200, "12.3": 1230, "12.34": 1234, "0.01": 1, "0": 0} {
		got, ok := ParseCredits(typed)
		require.True(t, ok, typed)
		require.Equal(t, want, got, typed)
	}
	for _, typed := range []string{
		"", ".", "1.", ".5", "1.234", "-1", "+1", "1,5", "1e3", "1 000", "99999999999999999999", "0x10", "1_0",
	} {
		_, ok := ParseCredits(typed)
		require.False(t, ok, typed)
	}
	require.Equal(t, "-0.05", Credits(-5))
}
