package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Operations are drawn as often as they are described, and an order is five requests.
func TestMix(t *testing.T) {
	t.Parallel()
	require.Contains(t, DescribeMix(), "`POST /messages`, a ciphertext of 1 KiB 29 %")
	require.Contains(t, DescribeMix(), "create, accept, start, deliver, complete an order 24 %")
	require.InDelta(t, 21.0/17, MixRequests(), 1e-9)
	const draws = 17_000
	drawn := make([]int, len(Mix))
	for range draws {
		drawn[DrawPart()]++
	}
	for i, p := range Mix {
		require.InDelta(t, p.Weight*1000, drawn[i], 300, p.Name)
	}
}
