package load

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Op is one operation of one caller, which makes one after the other.
type Op func(ctx context.Context) error

// Sample is what came of a run.
type Sample struct {
	// Elapsed is the time from the first request to the last answer.
	Elapsed time.Duration
	// Latencies of all operations, shortest first.
	Latencies []time.Duration
}

// Ops is how many operations were made.
func (s Sample) Ops() int { return len(s.Latencies) }

// PerSecond is the throughput.
func (s Sample) PerSecond() float64 { return float64(s.Ops()) / s.Elapsed.Seconds() }

// Quantile is the latency that the share q of the operations did not exceed; 0 without any.
func (s Sample) Quantile(q float64) time.Duration {
	if len(s.Latencies) == 0 {
		return 0
	}
	return s.Latencies[min(int(q*float64(len(s.Latencies))), len(s.Latencies)-1)]
}

// Run has every caller repeat its operation for a while. The first error ends the run and is returned.
func Run(ctx context.Context, callers []Op, length time.Duration) (Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		group sync.WaitGroup
		over  atomic.Bool
		all   = make([][]time.Duration, len(callers))
		errs  = make([]error, len(callers))
	)
	begun := time.Now()
	timer := time.AfterFunc(length, func() { over.Store(true) })
	defer timer.Stop()
	for i, op := range callers {
		group.Go(func() {
			before := time.Now()
			for !over.Load() && ctx.Err() == nil {
				if errs[i] = op(ctx); errs[i] != nil {
					cancel()
					return
				}
				now := time.Now()
				all[i] = append(all[i], now.Sub(before))
				before = now
			}
		})
	}
	group.Wait()
	s := Sample{Elapsed: time.Since(begun), Latencies: slices.Concat(all...)}
	slices.Sort(s.Latencies)
	return s, cmp.Or(cmp.Or(errs...), ctx.Err())
}
