package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Wrong codes are codes, all different, and none is the right one.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"000000", "123459", "999995"} {
		seen := map[string]bool{right: true}
		for _, wrong := range wrongCodes(right, guesses) {
			require.Regexp(t, `^\d{6}$`, wrong)
			require.False(t, seen[wrong], wrong)
			seen[wrong] = true
		}
		require.Len(t, seen, 1+guesses)
	}
}
