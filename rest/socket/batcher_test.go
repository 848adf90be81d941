package socket

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestASingleRequestNeedsNoWorker shows that its caller runs the statement; requests that come meanwhile share one.
func TestASingleRequestNeedsNoWorker(t *testing.T) {
	t.Parallel()
	const soon = time.Millisecond
	began, goOn := make(chan int, 8), make(chan struct{})
	b := newBatcher(8, func(_ context.Context, in []int) ([]int, error) {
		began <- len(in)
		<-goOn
		return in, nil
	})
	answers := make(chan int, 4)
	do := func(n int) {
		out, err := b.do(t.Context(), n)
		if err != nil {
			out = -1
		}
		answers <- out
	}
	go do(1)
	require.Equal(t, 1, <-began)
	for n := 2; n <= 4; n++ {
		go do(n)
	}
	waiting := func(n int) func() bool {
		return func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.waiting) == n
		}
	}
	require.Eventually(t, waiting(3), 10*time.Second, soon)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go b.work(ctx)
	require.Equal(t, 3, <-began)
	close(goOn)
	sum := 0
	for range 4 {
		sum += <-answers
	}
	require.Equal(t, 1+2+3+4, sum)
	require.Zero(t, b.running)
	go do(5)
	require.Equal(t, 1, <-began)
	require.Equal(t, 5, <-answers)
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
