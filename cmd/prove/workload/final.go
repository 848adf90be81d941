package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// madeWithin is how long the jobs of the server have after the last requests: for all entries of the log together, for all
	// receipts, and for an erasure. Results that are missing then count as missing.
	madeWithin = 30 * time.Second
	// madePace is the time between two checks for these results.
	madePace = 500 * time.Millisecond
)

// Read reads everything that the agents can see, after all activity has ended.
func (w *Workload) Read(ctx context.Context) error {
	final := history.Final{
		Orders: make(map[string]json.RawMessage), Entries: make(map[string][]history.Entry), Wallets: make(map[string]history.Wallet),
		Messages: make(map[string][]history.Message), Files: make(map[string]string), Onboarding: make(map[string]json.RawMessage),
	}
	for _, a := range w.signedIn() {
		if err := a.readOwn(ctx, &final); err != nil {
			return err
		}
	}
	for _, a := range append(w.all(), w.guesser) {
		got, err := a.need(ctx, a.onboarding(), nil)
		if err != nil {
			return err
		}
		final.Onboarding[a.Handle] = got.Body
	}
	for _, o := range w.orders.list(every[*order]) {
		got := w.byID(o.customer).read(ctx, o.id)
		if !got.Succeeded() {
			return fmt.Errorf("order %s: %d %s", o.id, got.Status, got.Body)
		}
		final.Orders[o.id] = got.Body
	}
	w.readFiles(ctx, &final)
	if !w.older() {
		final.Receipts = make(map[string]history.Receipt)
		for _, read := range []func(context.Context, *history.Final) error{w.readTrust, w.erase} {
			if err := read(ctx, &final); err != nil {
				return err
			}
		}
	}
	w.revoke(ctx)
	audit, err := w.bed.Audit(ctx)
	final.Acts, final.Audit = w.bed.Acts, audit
	w.Recorder.Record(func(h *history.History) { final.Before = h.Final.Before; h.Final = final })
	return err
}

// readOwn reads the ledger of the agent, oldest first, its balances and its conversations.
func (a *Agent) readOwn(ctx context.Context, final *history.Final) error {
	entries, err := pages[history.Entry](ctx, a, request{operation: "wallet.all", subject: a.Handle, query: "?limit=10"}, "entries", nil)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	var balances struct{ Wallet history.Wallet }
	if _, err = a.need(ctx, a.wallet(), &balances); err != nil {
		return err
	}
	final.Entries[a.Handle], final.Wallets[a.Handle] = entries, balances.Wallet
	for _, with := range a.friends {
		if final.Messages[a.Handle+"/"+with.Handle], err = a.allMessages(ctx, with); err != nil {
			return err
		}
	}
	return nil
}

// readFiles downloads every file whose upload was answered.
func (w *Workload) readFiles(ctx context.Context, final *history.Final) {
	owners := make(map[string]string)
	w.Recorder.Record(func(h *history.History) {
		for _, attempt := range h.Attempts {
			if attempt.Operation == history.FileUpload && attempt.Succeeded() {
				owners[member(attempt.Body, "attachment.id")] = attempt.Agent
			}
		}
	})
	for id, owner := range owners {
		a := w.registered[slices.IndexFunc(w.registered, func(a *Agent) bool { return a.Handle == owner })]
		if got := a.once(ctx, request{operation: "file.download", subject: id}); got.Succeeded() {
			final.Files[id] = hash(got.Body)
		}
	}
}

// erase makes an agent of the bursts request its erasure, and waits until its token has ended.
func (w *Workload) erase(ctx context.Context, _ *history.Final) error {
	a := w.burst[0]
	r := keyed(history.ErasureRequest, a.Handle, members{"confirm_handle": a.Handle})
	a.pair(ctx, r, r)
	a.repeat(ctx, r)
	w.Agents[1].once(ctx, a.card())
	// The erasure is due after seven days.
	if _, err := w.bed.DB.ExecContext(ctx, "UPDATE erasures SET due_at = now() WHERE bot_id = $1", a.ID); err != nil {
		return err
	}
	_ = testbed.Await(ctx, madePace, madeWithin, func() bool { // the judge knows what has come of it
		return a.once(ctx, request{operation: history.ErasureDue, subject: a.Handle}).Status == http.StatusUnauthorized
	})
	return nil
}
