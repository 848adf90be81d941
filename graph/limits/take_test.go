package limits_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/fault"
	"stoa/graph/graphtest"
	"stoa/graph/limits"
)

func take(w *graphtest.World, quota int, subject string) error {
	return limits.Quotas{MutationsPerMinute: quota}.Take(context.Background(), w.DB.SQL, limits.Mutations, subject)
}

func TestQuotaAndRecovery(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 4 {
		require.NoError(t, take(w, 4, "a"))
	}
	refused := graphtest.RequireFault(t, take(w, 4, "a"), fault.WriteLimited)
	require.NoError(t, take(w, 4, "b"), "subjects are apart")
	w.Shift(refused.Retry())
	require.NoError(t, take(w, 4, "a"), "what Retry-After promised")
	w.Shift(2 * time.Minute)
	for range 4 {
		require.NoError(t, take(w, 4, "a"))
	}
}

func TestQuotaOfZeroIsNoLimit(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 300 {
		require.NoError(t, take(w, 0, "a"))
	}
	require.EqualValues(t, 0, w.Count("SELECT count(*) FROM rate_windows"))
}

func TestAtOnceNoMoreThanTheQuota(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	var (
		group   sync.WaitGroup
		allowed atomic.Int64
	)
	for range 40 {
		group.Go(func() {
			if take(w, 7, "a") == nil {
				allowed.Add(1)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 7, allowed.Load())
}

func TestRefusedActsAreNotCounted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	require.NoError(t, take(w, 1, "a"))
	first := graphtest.RequireFault(t, take(w, 1, "a"), fault.WriteLimited).Retry()
	for range 50 {
		require.Error(t, take(w, 1, "a"))
	}
	require.LessOrEqual(t, graphtest.RequireFault(t, take(w, 1, "a"), fault.WriteLimited).Retry(), first)
}

// Against a plain list of acts, whatever the rhythm: who is refused did the whole quota within the last span, no span but its
// last sixtieth holds more than the quota, waiting as told always helps, and no longer than a span.
func TestSlidingSpan(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	subject := 0
	rapid.Check(t, func(r *rapid.T) {
		subject++
		name := strconv.Itoa(subject)
		quota := rapid.IntRange(1, 6).Draw(r, "quota")
		var granted []time.Time
		within := func(at time.Time, span time.Duration) int {
			first := slices.IndexFunc(granted, func(g time.Time) bool { return at.Sub(g) < span })
			if first < 0 {
				return 0
			}
			return len(granted) - first
		}
		for range rapid.IntRange(1, 25).Draw(r, "acts") {
			w.Shift(time.Duration(rapid.IntRange(0, 40_000).Draw(r, "milliseconds")) * time.Millisecond)
			before := w.Now()
			err := take(w, quota, name)
			if err == nil {
				require.Less(r, within(w.Now(), 59*time.Second), quota)
				granted = append(granted, before)
				continue
			}
			require.GreaterOrEqual(r, within(before, time.Minute), quota, "a client that keeps to the quota was refused")
			wait := fault.From(err).Retry()
			require.LessOrEqual(r, wait, time.Minute)
			w.Shift(wait)
			at := w.Now()
			require.NoError(r, take(w, quota, name))
			granted = append(granted, at)
		}
	})
}

func TestAfterASpanTheWholeQuotaIsThere(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 3 {
		for range 5 {
			require.NoError(t, take(w, 5, "a"))
		}
		require.LessOrEqual(t, graphtest.RequireFault(t, take(w, 5, "a"), fault.WriteLimited).Retry(), time.Minute)
		w.Shift(time.Minute)
	}
}

func TestTakeOnceCountsARequestOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	q := limits.Quotas{RegistrationsPerHour: 5}
	ctx, record := limits.WithRecord(context.Background())
	for range 3 {
		require.NoError(t, q.TakeOnce(ctx, w.DB.SQL, limits.Registrations, ""))
	}
	require.Len(t, record.Taken(), 1)
	require.Equal(t, 4, record.Taken()[0].Remaining)
	require.NoError(t, q.Take(ctx, w.DB.SQL, limits.Registrations, ""))
	require.Equal(t, 3, record.Taken()[0].Remaining, "the newest state counts")
}
