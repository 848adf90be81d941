package workload

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

// restores holds the times of restored backups.
type restores struct {
	// lasting is held while an agent's token changes, and from a backup until the end of its restore: an agent that lost a new
	// token could not continue.
	lasting sync.Mutex

	mu sync.Mutex
	// begun is when the backup began that may be restored; lost are the lost spans of restored backups.
	begun time.Time
	lost  [][2]time.Time
}

// Hold ends activities that a restore would break, such as changes of tokens, and prevents new ones until Resume.
func (w *Workload) Hold() {
	w.restores.lasting.Lock()
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	w.restores.begun = time.Now()
}

// Forget drops the answers whose requests the agents would repeat, and the known states of all orders: note accepts the next read
// state. No server runs.
func (w *Workload) Forget() {
	for _, a := range w.registered {
		a.mu.Lock()
		a.answers = nil
		a.mu.Unlock()
	}
	for _, o := range w.orders.list(every[*order]) {
		o.mu.Lock()
		o.state, o.version = "", 0
		o.mu.Unlock()
	}
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	w.restores.lost = append(w.restores.lost, [2]time.Time{w.restores.begun, time.Now()})
}

// Resume finds out which orders still exist, and lets the agents go on. The judge knows whether an order may be lost.
func (w *Workload) Resume(ctx context.Context) {
	defer w.restores.lasting.Unlock()
	start := w.Recorder.Now()
	if _, err := w.log.AcceptEpoch(ctx, ""); client.Alarm(err) {
		w.watcher.audited(history.LogAudit, start, err)
	}
	unseen := func(o *order) bool { _, version := o.seen(); return version == 0 }
	for _, o := range w.orders.list(unseen) {
		if w.byID(o.customer).read(ctx, o.id).status == http.StatusNotFound {
			w.orders.remove(func(other *order) bool { return other == o })
		}
	}
}

// mayBeLost reports whether a restore may have undone an answer of that time.
func (w *Workload) mayBeLost(at time.Time) bool {
	w.restores.mu.Lock()
	defer w.restores.mu.Unlock()
	return slices.ContainsFunc(w.restores.lost, func(span [2]time.Time) bool { return at.After(span[0]) && at.Before(span[1]) })
}
