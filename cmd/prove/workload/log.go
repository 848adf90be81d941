package workload

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
	"stoa/rest/client"
)

const (
	// watchPace is the mean time between two audits of the key log.
	watchPace = 400 * time.Millisecond
	// logWatcher is the number of the client that audits.
	logWatcher = 900
)

// chooser sends each request of the agents' own client to a different server.
type chooser struct{ agent *Agent }

// RoundTrip implements http.RoundTripper.
func (c chooser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	server, _ := c.agent.twoServers()
	r.Header.Set(testbed.ChosenHeader, server)
	return c.agent.client.Transport.RoundTrip(r)
}

func (a *Agent) options() client.Options {
	return client.Options{HTTP: &http.Client{Transport: chooser{a}}, Checks: client.Checks{Patience: madeWithin}}
}

// newWatcher makes the client that audits the key log.
func (w *Workload) newWatcher(context.Context) (err error) {
	w.watcher = w.newStranger(logWatcher)
	w.log, err = client.OpenKeyLog(filepath.Join(w.bed.Folder, "audits"), w.url, w.watcher.options())
	return err
}

// watchLog makes the agents' own client audit the key log through all servers until ctx ends.
func (w *Workload) watchLog(ctx context.Context) {
	regularly(ctx, w.watcher.random, watchPace, func() {
		start := w.Recorder.Now()
		if _, err := w.log.Audit(ctx); err == nil || client.Alarm(err) {
			w.watcher.audited(history.LogAudit, start, err)
		}
	})
}

// audited records the client's result.
func (a *Agent) audited(operation string, start time.Duration, err error) {
	found := history.Attempt{Agent: a.Handle, Operation: operation, Start: start, End: a.w.Recorder.Now(), Status: http.StatusOK}
	if err != nil {
		found.Status, found.Failure = history.Refuted, err.Error()
	}
	a.w.record(found)
}

// readTrust makes every agent's client look for the agent's entry in the key log, and verify the receipts of its closed orders.
func (w *Workload) readTrust(ctx context.Context, final *history.Final) error {
	var mu sync.Mutex
	return each(ctx, w.signedIn(), func(a *Agent, ctx context.Context) error {
		file := filepath.Join(w.bed.Folder, a.Handle+".json")
		err := client.Identity{Origin: w.url, Handle: a.Handle, ID: a.ID, Token: a.bearer(), PrivateKey: a.keys.Private()}.Save(file)
		if err != nil {
			return err
		}
		own, err := client.OpenAgent(file, "", a.options())
		if err != nil {
			return err
		}
		start, until := w.Recorder.Now(), time.Now().Add(madeWithin)
		made, err := own.WatchKey(ctx)
		a.audited(history.LogOwn, start, err)
		mu.Lock()
		final.LogAgents = max(final.LogAgents, made.Agents)
		mu.Unlock()
		for _, o := range a.ordersIn(func(state string) bool { return state == "closed" }) {
			if got, there := receiptOf(ctx, own, o.id, until); there {
				mu.Lock()
				final.Receipts[a.Handle+"/"+o.id] = got
				mu.Unlock()
			}
		}
		return nil
	})
}

// receiptOf returns the receipt of an order once it is sound, or in its state when the time is over.
func receiptOf(ctx context.Context, own *client.Agent, order string, until time.Time) (got history.Receipt, there bool) {
	for {
		found, _, err := own.VerifyReceipt(ctx, order)
		if err != nil && time.Now().Before(until) && pause(ctx, madePace) {
			continue
		}
		if err != nil {
			return history.Receipt{Wrong: err.Error()}, !client.HasCode(err, "not_found")
		}
		p := found.Receipt
		got = history.Receipt{ID: p.ID, Outcome: p.Outcome, TotalMinor: p.TotalMinor}
		var further struct {
			OrderVersion int64 `json:"order_version"`
		}
		_ = json.Unmarshal(p.Raw, &further) // it was verified
		got.OrderVersion = further.OrderVersion
		for _, rating := range found.Ratings {
			got.Ratings = append(got.Ratings, rating.ID)
		}
		return got, true
	}
}
