package socket

import (
	"context"
	"sync"
)

// gather makes one statement of what many sessions ask for: while one runs, what arrives waits and goes into the next. So a
// lone request waits for nobody, and under load a thousand requests cost tens of round trips. Who asks while no statement runs, runs
// the statement: to hand it to a worker would wake a thread there and another one back.
type gather[In, Out any] struct {
	// most is how many requests one statement takes.
	most int
	// run answers requests in their order, or fails all of them.
	run func(ctx context.Context, in []In) ([]Out, error)

	mu      sync.Mutex
	running int
	waiting []*request[In, Out]
	// arrived wakes a worker.
	arrived chan struct{}
}

// request is one session's part; out and err are set once done is closed. It has no done where nobody waits.
type request[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

func newGather[In, Out any](most int, run func(context.Context, []In) ([]Out, error)) *gather[In, Out] {
	return &gather[In, Out]{most: most, run: run, arrived: make(chan struct{}, 1)}
}

// ask hands in a request and does not wait.
func (g *gather[In, Out]) ask(in In) *request[In, Out] {
	r := &request[In, Out]{in: in, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, r)
	g.mu.Unlock()
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	return r
}

// do answers a request that is alone, and hands in any other and waits for its answer, or for the end of ctx.
func (g *gather[In, Out]) do(ctx context.Context, in In) (Out, error) {
	if g.alone() {
		r := &request[In, Out]{in: in}
		g.answer(ctx, []*request[In, Out]{r})
		return r.out, r.err
	}
	r := g.ask(in)
	select {
	case <-r.done:
		return r.out, r.err
	case <-ctx.Done():
		var none Out
		return none, ctx.Err()
	}
}

// work answers requests until ctx ends. Any number of goroutines may do so.
func (g *gather[In, Out]) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.arrived:
		}
		for batch := g.take(); len(batch) > 0; batch = g.take() {
			g.answer(ctx, batch)
		}
	}
}

// alone tells that nothing runs or waits, and from now on something does.
func (g *gather[In, Out]) alone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running > 0 || len(g.waiting) > 0 {
		return false
	}
	g.running++
	return true
}

func (g *gather[In, Out]) take() []*request[In, Out] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(g.most, len(g.waiting))
	batch := g.waiting[:n:n]
	if n > 0 {
		g.running++
	}
	if g.waiting = g.waiting[n:]; len(g.waiting) == 0 {
		g.waiting = nil
	}
	return batch
}

func (g *gather[In, Out]) answer(ctx context.Context, batch []*request[In, Out]) {
	in := make([]In, len(batch))
	for i, r := range batch {
		in[i] = r.in
	}
	out, err := g.run(ctx, in)
	g.mu.Lock()
	g.running--
	g.mu.Unlock()
	for i, r := range batch {
		if r.err = err; err == nil {
			r.out = out[i]
		}
		if r.done != nil {
			close(r.done)
		}
	}
}
