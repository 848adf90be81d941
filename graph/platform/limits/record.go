package limits

import (
	"context"
	"slices"
	"sync"
)

// Record holds which limits one request has met, for its headers and for TakeOnce.
type Record struct {
	mu    sync.Mutex
	taken []Taken
}

// Key is where a context keeps the record of its request, a *Record. A transport may have it in a context of its own.
type Key struct{}

// WithRecord returns a context that remembers the limits its request meets.
func WithRecord(ctx context.Context) (context.Context, *Record) {
	record := new(Record)
	return context.WithValue(ctx, Key{}, record), record
}

func recordOf(ctx context.Context) *Record {
	record, _ := ctx.Value(Key{}).(*Record)
	return record
}

// Add notes a limit that was taken, in place of what was known of it; a nil record forgets it.
func (r *Record) Add(t Taken) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = slices.DeleteFunc(r.taken, func(known Taken) bool { return known.Limit.Name == t.Limit.Name })
	r.taken = append(r.taken, t)
}

// Taken lists the limits met so far, in order.
func (r *Record) Taken() []Taken {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// Refused names the limits that refused the request.
func (r *Record) Refused() (names []string) {
	for _, t := range r.Taken() {
		if !t.Allowed {
			names = append(names, t.Limit.Name)
		}
	}
	return names
}

func (r *Record) has(name string) bool {
	return slices.ContainsFunc(r.Taken(), func(t Taken) bool { return t.Limit.Name == name })
}

// Note remembers a limit that was taken in a statement of its own, for the request's headers.
func Note(ctx context.Context, t Taken) { recordOf(ctx).Add(t) }
