package mix

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Operations are drawn as often as they are described, each is a scenario, and an order is five requests.
func TestOperations(t *testing.T) {
	t.Parallel()
	require.Contains(t, Describe(), "`POST /messages`, a ciphertext of 1 KiB 29 %")
	require.Contains(t, Describe(), "create, accept, start, deliver, complete an order 24 %")
	require.InDelta(t, 21.0/17, requestsEach(), 1e-9)
	const draws = 17_000
	var drawn [len(operations)]int
	for range draws {
		drawn[draw()]++
	}
	for i, o := range operations {
		require.GreaterOrEqual(t, index(o.scenario), 0)
		require.InDelta(t, o.weight*1000, drawn[i], 300)
	}
}
