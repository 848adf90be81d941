package limits

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Record holds the limits that were counted for one request, for its headers and for TakeOnce.
type Record struct {
	mu    sync.Mutex
	taken []Taken
}

// Key is the context key of the request's *Record. A transport may store it in its own context type.
type Key struct{}

// WithRecord returns a context with a new Record.
func WithRecord(ctx context.Context) (context.Context, *Record) {
	record := new(Record)
	return context.WithValue(ctx, Key{}, record), record
}

func recordOf(ctx context.Context) *Record {
	record, _ := ctx.Value(Key{}).(*Record)
	return record
}

// Add records the state of a limit and replaces its earlier state; a nil record ignores it.
func (r *Record) Add(t Taken) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = slices.DeleteFunc(r.taken, func(known Taken) bool { return known.Limit.Name == t.Limit.Name })
	r.taken = append(r.taken, t)
}

// Taken returns the limits counted so far, in order.
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

// Note adds a limit that the caller's own statement has counted to the record of the request.
func Note(ctx context.Context, t Taken) { recordOf(ctx).Add(t) }

// Headers sets RateLimit and RateLimit-Policy (IETF draft) to the state of the limits counted so far, in order. If there are
// none, it sets no header (§1.8).
func (r *Record) Headers(h http.Header) {
	var policies, states []string
	for _, t := range r.Taken() {
		name := strconv.Quote(t.Limit.Name)
		policies = append(policies, name+";q="+strconv.Itoa(t.Quota)+";w="+seconds(t.Limit.Span))
		states = append(states, name+";r="+strconv.Itoa(t.Remaining)+";t="+seconds(t.Reset))
	}
	if len(policies) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
