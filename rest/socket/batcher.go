package socket

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
)

// batcher puts the requests of many sessions into one statement: while a statement runs, requests wait for the next. So a single
// request does not wait, and under load a thousand requests cost tens of round trips. A caller that finds no statement running runs its
// own, which saves waking a worker and being woken by it.
type batcher[In, Out any] struct {
	// limit is how many requests one statement takes.
	limit int
	// run answers requests in their order, or fails all of them.
	run func(ctx context.Context, in []In) ([]Out, error)

	mu      sync.Mutex
	running int
	waiting []*request[In, Out]
	// arrived wakes a worker.
	arrived chan struct{}
}

// request is one session's part; out and err are set once done is closed. done is nil if no other goroutine waits.
type request[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

func newBatcher[In, Out any](limit int, run func(context.Context, []In) ([]Out, error)) *batcher[In, Out] {
	return &batcher[In, Out]{limit: limit, run: run, arrived: make(chan struct{}, 1)}
}

// submit adds a request and does not wait.
func (b *batcher[In, Out]) submit(in In) *request[In, Out] {
	r := &request[In, Out]{in: in, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, r)
	b.mu.Unlock()
	select {
	case b.arrived <- struct{}{}:
	default:
	}
	return r
}

// do runs the statement at once for a request that is alone. Any other request it submits, and waits for the answer or the end of ctx.
func (b *batcher[In, Out]) do(ctx context.Context, in In) (Out, error) {
	if b.alone() {
		r := &request[In, Out]{in: in}
		b.answer(ctx, []*request[In, Out]{r})
		return r.out, r.err
	}
	r := b.submit(in)
	select {
	case <-r.done:
		return r.out, r.err
	case <-ctx.Done():
		var none Out
		return none, ctx.Err()
	}
}

// work answers requests until ctx ends. Any number of goroutines may call it.
func (b *batcher[In, Out]) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.arrived:
		}
		for batch := b.take(); len(batch) > 0; batch = b.take() {
			b.answer(ctx, batch)
		}
	}
}

// alone reports whether no statement runs and no request waits, and if so counts the caller's statement as running.
func (b *batcher[In, Out]) alone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running > 0 || len(b.waiting) > 0 {
		return false
	}
	b.running++
	return true
}

func (b *batcher[In, Out]) take() []*request[In, Out] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(b.limit, len(b.waiting))
	batch := b.waiting[:n:n]
	if n > 0 {
		b.running++
	}
	if b.waiting = b.waiting[n:]; len(b.waiting) == 0 {
		b.waiting = nil
	}
	return batch
}

func (b *batcher[In, Out]) answer(ctx context.Context, batch []*request[In, Out]) {
	in := make([]In, len(batch))
	for i, r := range batch {
		in[i] = r.in
	}
	out, err := b.run(ctx, in)
	b.mu.Lock()
	b.running--
	b.mu.Unlock()
	for i, r := range batch {
		if r.err = err; err == nil {
			r.out = out[i]
		}
		if r.done != nil {
			close(r.done)
		}
	}
}

func (h *Hub) acknowledge(ctx context.Context, batches [][]events.Ack) ([]struct{}, error) {
	var all []events.Ack
	for _, batch := range batches {
		all = append(all, batch...)
	}
	h.mu.RLock()
	process := h.process
	h.mu.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	elsewhere, err := h.Graph.Events.Acknowledge(ctx, process, all)
	if len(elsewhere) > 0 {
		h.queue.add(wordRecheck, elsewhere)
	}
	return make([]struct{}, len(batches)), err
}

// closeSlots frees slots, and retries until it has: a lease counts for as long as its process lives.
func (h *Hub) closeSlots(_ context.Context, ids []uuid.UUID) ([]struct{}, error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		ctx, cancel := context.WithTimeout(h.ctx, statementTimeout)
		err := h.Graph.Events.CloseSlots(ctx, ids)
		cancel()
		if err == nil || h.ctx.Err() != nil {
			return make([]struct{}, len(ids)), err
		}
		h.warnLimited("event socket cannot free its slots", err)
		select {
		case <-time.After(wait):
		case <-h.ctx.Done():
		}
	}
}
