package readpool

import (
	"context"
	"slices"
	"sync"
)

// queue hands out slots. While none is free, callers take turns, each with its requests in the order of their arrival, so that a
// caller with many requests delays one with a single request by one turn. It is safe for concurrent use.
type queue struct {
	mu   sync.Mutex
	free int
	// perCaller and total bound the requests that wait.
	perCaller, total int
	// turns are the callers of waiting requests; the first one is served next. Each is there once.
	turns []string
	// waiting are the requests of each caller in turns, the first one first.
	waiting map[string][]*request
	length  int
}

// request waits for a slot; served is closed when it has one.
type request struct{ served chan struct{} }

// outcome says what became of a request for a slot.
type outcome int

const (
	served outcome = iota
	// callerFull and full: the caller's requests, or all requests together, have used up the places for waiting.
	callerFull
	full
	// cancelled: the context ended first.
	cancelled
)

func newQueue(slots, perCaller, total int) *queue {
	return &queue{free: slots, perCaller: perCaller, total: total, waiting: make(map[string][]*request)}
}

// enter waits for a slot until ctx ends. A caller that was served must call leave.
func (q *queue) enter(ctx context.Context, caller string) outcome {
	mine, refused := q.join(caller)
	if mine == nil {
		return refused
	}
	select {
	case <-mine.served:
		return served
	case <-ctx.Done():
		if q.withdraw(caller, mine) {
			return cancelled
		}
		return served // the slot came at the same moment
	}
}

// join returns a request that waits, or nil with the outcome where it need not or may not.
func (q *queue) join(caller string) (*request, outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.free > 0:
		q.free--
		return nil, served
	case len(q.waiting[caller]) >= q.perCaller:
		return nil, callerFull
	case q.length >= q.total:
		return nil, full
	}
	if len(q.waiting[caller]) == 0 {
		q.turns = append(q.turns, caller)
	}
	mine := &request{make(chan struct{})}
	q.waiting[caller] = append(q.waiting[caller], mine)
	q.length++
	return mine, served
}

// leave gives a slot back, or to the first request of the caller whose turn it is.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turns) == 0 {
		q.free++
		return
	}
	caller := q.turns[0]
	q.turns = q.turns[1:]
	next := q.waiting[caller][0]
	q.remove(caller, 0)
	if len(q.waiting[caller]) > 0 {
		q.turns = append(q.turns, caller)
	}
	close(next.served)
}

// withdraw takes a request out again; false if it has been served.
func (q *queue) withdraw(caller string, mine *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, waiting := range q.waiting[caller] {
		if waiting != mine {
			continue
		}
		q.remove(caller, i)
		if len(q.waiting[caller]) == 0 {
			q.turns = without(q.turns, caller)
		}
		return true
	}
	return false
}

func (q *queue) remove(caller string, i int) {
	rest := slices.Delete(q.waiting[caller], i, i+1)
	if len(rest) == 0 {
		delete(q.waiting, caller)
	} else {
		q.waiting[caller] = rest
	}
	q.length--
}

func without(callers []string, gone string) []string {
	rest := make([]string, 0, len(callers))
	for _, caller := range callers {
		if caller != gone {
			rest = append(rest, caller)
		}
	}
	return rest
}

// waits is the number of requests that wait.
func (q *queue) waits() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}
