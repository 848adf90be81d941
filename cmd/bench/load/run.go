package load

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Op performs one operation of one caller.
type Op func(ctx context.Context) error

// Sample is the result of a run.
type Sample struct {
	// Elapsed is the time from the first request to the last response.
	Elapsed time.Duration
	// Latencies are those of all operations, ascending.
	Latencies []time.Duration
}

// Ops is the number of operations.
func (s Sample) Ops() int { return len(s.Latencies) }

// PerSecond is the throughput.
func (s Sample) PerSecond() float64 { return float64(s.Ops()) / s.Elapsed.Seconds() }

// Quantile returns the latency that the share q of the operations do not exceed; 0 for none.
func (s Sample) Quantile(q float64) time.Duration { return Quantile(s.Latencies, q) }

// Quantile returns the q-quantile of ascending latencies; 0 for none.
func Quantile(latencies []time.Duration, q float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	return latencies[min(int(q*float64(len(latencies))), len(latencies)-1)]
}

// Run has every caller repeat its operation until length is over or ctx is done; however short length is, each is called once. The
// first error ends the run and is returned.
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
			for ctx.Err() == nil {
				if errs[i] = op(ctx); errs[i] != nil {
					cancel()
					return
				}
				now := time.Now()
				all[i] = append(all[i], now.Sub(before))
				before = now
				if over.Load() {
					return
				}
			}
		})
	}
	group.Wait()
	s := Sample{Elapsed: time.Since(begun), Latencies: slices.Concat(all...)}
	slices.Sort(s.Latencies)
	return s, cmp.Or(cmp.Or(errs...), ctx.Err())
}
