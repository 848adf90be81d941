package workload

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A slow body comes whole, over its time, and at once when the run ends.
func TestDrip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := bytes.Repeat([]byte("0123456789"), 60_000)
		begun := time.Now()
		got, err := io.ReadAll(newDrip(t.Context(), body, 10*time.Second))
		require.NoError(t, err)
		require.Equal(t, body, got)
		require.InDelta(t, 10*time.Second, time.Since(begun), float64(2*time.Second))

		begun = time.Now()
		got, err = io.ReadAll(newDrip(t.Context(), []byte(`{"amount_minor":100}`), 3*time.Second))
		require.NoError(t, err)
		require.JSONEq(t, `{"amount_minor":100}`, string(got))
		require.Equal(t, 3*time.Second, time.Since(begun))

		ctx, cancel := context.WithCancel(t.Context())
		slow := newDrip(ctx, body, 10*time.Second)
		first := make([]byte, len(body))
		n, err := slow.Read(first)
		require.NoError(t, err)
		require.Less(t, n, len(body)/50)
		cancel()
		begun = time.Now()
		rest, err := io.ReadAll(slow)
		require.NoError(t, err)
		require.Equal(t, body, append(first[:n], rest...))
		require.Less(t, time.Since(begun), time.Second)
	})
}
