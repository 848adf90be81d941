package workload

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A body that lasts comes whole, over its whole time.
func TestSlowly(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	got, err := io.ReadAll(newSlowly([]byte(`{"amount_minor":100}`), 200*time.Millisecond))
	require.NoError(t, err)
	require.JSONEq(t, `{"amount_minor":100}`, string(got))
	require.GreaterOrEqual(t, time.Since(begun), 190*time.Millisecond)
}
