package workload

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"stoa/cmd/prove/history"
	"stoa/rest/client/keylog"
)

// restores holds the moments of backups that are restored.
type restores struct {
	// lasting is held while an agent's token changes, and from a backup to the end of its restore: an agent that lost a new token
	// could not go on.
	lasting sync.Mutex
	// epoch is the number of the key log's present epoch, 0 for the first one.
	epoch atomic.Int64

	mu sync.Mutex
	// begun is when the backup began that may be restored; lost are the spans of those that were.
	begun time.Time
	lost  [][2]time.Time
}

// Hold implements faults.Agents.
func (w *Workload) Hold() {
	w.restores.lasting.Lock()
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	w.restores.begun = time.Now()
}

// Forget implements faults.Agents.
func (w *Workload) Forget() {
	for _, a := range w.registered {
		a.mu.Lock()
		a.answers = nil
		a.mu.Unlock()
	}
	w.orders.forget()
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	w.restores.lost = append(w.restores.lost, [2]time.Time{w.restores.begun, time.Now()})
}

// Resume implements faults.Agents.
func (w *Workload) Resume(ctx context.Context) {
	defer w.restores.lasting.Unlock()
	const number = 902
	stranger := w.newStranger(number)
	defer stranger.client.CloseIdleConnections()
	w.findEpoch(ctx, stranger)
	byID := make(map[string]*Agent)
	for _, a := range w.registered {
		byID[a.ID] = a
	}
	for _, o := range w.orders.unseen() {
		if got := byID[o.customer].read(ctx, o.id); got.status == http.StatusNotFound {
			w.orders.drop(o) // the judge knows whether it may be gone
		}
	}
}

// mayBeLost says that a restore may have undone what was answered at a moment.
func (w *Workload) mayBeLost(at time.Time) bool {
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	return slices.ContainsFunc(w.restores.lost, func(span [2]time.Time) bool { return at.After(span[0]) && at.Before(span[1]) })
}

// inEpoch is the path of something in the present epoch of the key log.
func (w *Workload) inEpoch(path string) string { return fmt.Sprintf("/log/%s/%s", w.epochName(), path) }

// epochName is the number of the present epoch as a text.
func (w *Workload) epochName() string { return strconv.FormatInt(max(w.restores.epoch.Load(), 1), 10) }

// findEpoch reads which epoch of the key log is the present one.
func (w *Workload) findEpoch(ctx context.Context, a *Agent) {
	var keys struct{ Log struct{ Origin string } }
	got := a.once(ctx, public("log.keys", "", "/.well-known/stoa-keys.json"))
	if !got.succeeded() || got.into(&keys) != nil {
		return
	}
	if _, epoch, err := keylog.HostOf(keys.Log.Origin); err == nil {
		w.restores.epoch.Store(int64(epoch))
	}
}

// forget takes away what is known of the states of all orders: note takes whatever is read next.
func (b *board) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.orders {
		o.mu.Lock()
		o.state, o.version = "", 0
		o.mu.Unlock()
	}
}

// unseen are the orders whose states are not known.
func (b *board) unseen() []*order {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.orders), func(o *order) bool { _, version := o.seen(); return version > 0 })
}

// drop removes an order that is gone.
func (b *board) drop(gone *order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orders = slices.DeleteFunc(b.orders, func(o *order) bool { return o == gone })
	clear(b.index)
	for i, o := range b.orders {
		b.index[o.id] = i
	}
}

// rotateHeld changes a token unless a backup may take that back.
func (a *Agent) rotateHeld(ctx context.Context) {
	if a.w.restores.lasting.TryLock() {
		defer a.w.restores.lasting.Unlock()
		a.rotateOnce(ctx)
	}
}

// checkpoint reads the head of the key log.
func (w *Workload) checkpoint() request {
	r := public(history.LogCheckpoint, "", w.inEpoch("checkpoint"))
	r.of = w.epochName()
	return r
}
