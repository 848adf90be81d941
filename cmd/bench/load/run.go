package load

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Run has a number of callers repeat a scenario, each in the name of another agent and on its own connection to the API at base, until length
// is over; however short that is, each does it once. It returns the number of operations and the time that they took. The first error
// ends it.
func Run(ctx context.Context, do Do, base string, agents []*Agent, length time.Duration) (ops int, took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		callers sync.WaitGroup
		over    atomic.Bool
		done    atomic.Int64
		errs    = make([]error, len(agents))
	)
	begun := time.Now()
	timer := time.AfterFunc(length, func() { over.Store(true) })
	defer timer.Stop()
	for i, agent := range agents {
		callers.Go(func() {
			client := NewClient(base)
			defer client.Close()
			for ctx.Err() == nil {
				if errs[i] = do(ctx, client, agent); errs[i] != nil {
					cancel()
					return
				}
				done.Add(1)
				if over.Load() {
					return
				}
			}
		})
	}
	callers.Wait()
	return int(done.Load()), time.Since(begun), cmp.Or(cmp.Or(errs...), ctx.Err())
}
