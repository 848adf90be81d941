package socket

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestASingleRequestNeedsNoWorker shows that its caller runs the statement; requests that come meanwhile share one.
func TestASingleRequestNeedsNoWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, goOn := make(chan int, 8), make(chan struct{})
		b := newBatcher(8, func(_ context.Context, in []int) ([]int, error) {
			began <- len(in)
			<-goOn
			return in, nil
		})
		sum := 0
		var mu sync.Mutex
		do := func(n int) {
			out, err := b.do(t.Context(), n)
			mu.Lock()
			defer mu.Unlock()
			if sum += out; err != nil {
				t.Error(err)
			}
		}
		go do(1)
		require.Equal(t, 1, <-began)
		for n := 2; n <= 4; n++ {
			go do(n)
		}
		synctest.Wait()
		require.Len(t, b.waiting, 3)
		go b.work(t.Context())
		require.Equal(t, 3, <-began)
		close(goOn)
		synctest.Wait()
		require.Equal(t, 1+2+3+4, sum)
		require.Zero(t, b.running)
		do(5)
		require.Equal(t, 1, <-began)
	})
}

func TestAFailureReachesEveryRequest(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	var calls atomic.Int32
	b := newBatcher(8, func(context.Context, []int) ([]int, error) {
		calls.Add(1)
		return nil, away
	})
	_, err := b.do(t.Context(), 1)
	require.Equal(t, away, err)
	require.EqualValues(t, 1, calls.Load())
	b.running++ // somebody else's statement
	ctx, stop := context.WithCancel(t.Context())
	go b.work(ctx)
	_, err = b.do(t.Context(), 2)
	require.Equal(t, away, err)
	stop()
	_, err = b.do(ctx, 3)
	require.ErrorIs(t, err, context.Canceled)
}
