package limits_test

import (
	"context"
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
	graphtest.RequireFault(t, take(w, 4, "a"), fault.WriteLimited)
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

// Whatever the rhythm: a fresh subject gets its whole quota at once, any minute holds at most the quota and the small excess
// that spreading the window before evenly allows, and waiting as told always helps.
func TestSlidingWindow(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	subject := 0
	rapid.Check(t, func(r *rapid.T) {
		subject++
		name := string(rune('a'+subject%26)) + time.Duration(subject).String()
		quota := rapid.IntRange(1, 6).Draw(r, "quota")
		var granted []time.Duration
		now := time.Duration(0)
		for range rapid.IntRange(1, 25).Draw(r, "acts") {
			step := time.Duration(rapid.IntRange(0, 50).Draw(r, "seconds")) * time.Second
			w.Shift(step)
			now += step
			err := take(w, quota, name)
			if err == nil {
				granted = append(granted, now)
				continue
			}
			require.GreaterOrEqual(r, len(granted), quota)
			wait := fault.From(err).Retry()
			w.Shift(wait)
			now += wait
			require.NoError(r, take(w, quota, name))
			granted = append(granted, now)
		}
		for i := range granted {
			within := 0
			for j := i; j < len(granted) && granted[j]-granted[i] < time.Minute; j++ {
				within++
			}
			require.LessOrEqual(r, within, 2*quota)
		}
	})
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
