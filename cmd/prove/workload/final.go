package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
	"stoa/rest/client/keylog"
)

const (
	// watchPace is the mean time between two readings of the head of the key log.
	watchPace = 400 * time.Millisecond
	// madeWithin is how long the server has for what jobs make of the last requests: for all entries of the log together, for all
	// receipts, and for an erasure. What is missing then is missing. An export has exportWithin.
	madeWithin   = 30 * time.Second
	exportWithin = 2 * time.Minute
	// madePace is the time between two looks for that.
	madePace = 500 * time.Millisecond
)

// The numbers of the clients that are no agents.
const (
	logWatcher = 900 + iota
	logReader
	epochFinder
)

// Read reads everything that the agents can see, once all has settled.
func (w *Workload) Read(ctx context.Context) error {
	final := history.Final{
		Orders: make(map[string]json.RawMessage), Entries: make(map[string][]history.Entry), Wallets: make(map[string]history.Wallet),
		Messages: make(map[string][]history.Message), Posts: make(map[string]map[string]string), Files: make(map[string]string),
		Onboarding: make(map[string]json.RawMessage), Receipts: make(map[string]json.RawMessage), ReceiptLists: make(map[string][]string),
		Exports: make(map[string]history.Export),
		Log:     history.Log{Cards: make(map[string]json.RawMessage), Proofs: make(map[string]string)},
	}
	for _, a := range w.registered {
		if a.bearer() == "" {
			continue // its token was lost with an answer
		}
		if err := a.readOwn(ctx, &final); err != nil {
			return err
		}
	}
	for _, a := range append(w.all(), w.guesser) {
		got, err := a.need(ctx, a.onboarding(), nil)
		if err != nil {
			return err
		}
		final.Onboarding[a.Handle] = got.body
	}
	for _, o := range w.orders.list(every[*order]) {
		got := w.byID(o.customer).read(ctx, o.id)
		if !got.succeeded() {
			return fmt.Errorf("order %s: %d %s", o.id, got.status, got.body)
		}
		final.Orders[o.id] = got.body
	}
	w.readFiles(ctx, &final)
	if !w.older() {
		for _, read := range []func(context.Context, *history.Final) error{w.readLog, w.readReceipts, w.export, w.erase} {
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

// readOwn reads the ledger of the agent, oldest first, its balances, its conversations and its posts.
func (a *Agent) readOwn(ctx context.Context, final *history.Final) error {
	entries, err := pages[history.Entry](ctx, a, request{operation: "wallet.all", subject: a.Handle, query: "?limit=10"}, "entries", 0)
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
	type post struct {
		ID, Title string
		Author    struct{ ID string }
	}
	posts, err := pages[post](ctx, a, request{operation: "post.list"}, "posts", 0)
	final.Posts[a.Handle] = make(map[string]string)
	for _, p := range posts {
		if p.Author.ID == a.ID {
			final.Posts[a.Handle][p.ID] = p.Title
		}
	}
	return err
}

// readFiles downloads every file that an upload was answered for.
func (w *Workload) readFiles(ctx context.Context, final *history.Final) {
	owners := make(map[string]string)
	w.Recorder.Record(func(h *history.History) {
		for _, attempt := range h.Attempts {
			if attempt.Operation == history.FileUpload && attempt.Succeeded() {
				owners[member(attempt.Body, "attachment.id")] = attempt.Agent
			}
		}
	})
	for _, a := range w.registered {
		for id := range maps.Keys(owners) {
			if owners[id] != a.Handle {
				continue
			}
			if got := a.once(ctx, request{operation: "file.download", subject: id}); got.succeeded() {
				final.Files[id] = hash(got.body)
			}
		}
	}
}

// made repeats a reading until it shows what it waits for, or a moment is over.
func (a *Agent) made(ctx context.Context, until time.Time, r request, is func(answer) bool) answer {
	for {
		got := a.once(ctx, r)
		if got.succeeded() && is(got) || time.Now().After(until) || !pause(ctx, madePace) {
			return got
		}
	}
}

// watchLog reads the head of the key log through all servers until ctx ends.
func (w *Workload) watchLog(ctx context.Context) {
	a := w.newStranger(logWatcher)
	defer a.client.CloseIdleConnections()
	regularly(ctx, a.random, watchPace, func() {
		r := w.checkpoint()
		r.server, _ = a.twoServers()
		a.once(ctx, r)
	})
}

// readLog reads the whole key log, and what it shows of each agent.
func (w *Workload) readLog(ctx context.Context, final *history.Final) error {
	a := w.newStranger(logReader)
	defer a.client.CloseIdleConnections()
	until, log := time.Now().Add(madeWithin), &final.Log
	for _, agent := range w.registered {
		if agent.bearer() == "" {
			continue // its token was lost with an answer
		}
		if err := agent.readProof(ctx, until, log); err != nil {
			return err
		}
	}
	keys, noKeys := a.need(ctx, request{operation: "log.keys"}, nil)
	receiptKeys, err := a.need(ctx, request{operation: "log.receipt-keys"}, nil)
	checkpoint := a.once(ctx, w.checkpoint())
	if noKeys != nil || err != nil || !checkpoint.succeeded() {
		return fmt.Errorf("the key log: %d, %d, %d", keys.status, receiptKeys.status, checkpoint.status)
	}
	log.Keys, log.ReceiptKeys = keys.body, receiptKeys.body
	head, _, _ := bytes.Cut(checkpoint.body, []byte("\n\n"))
	size, err := keylog.ParseCheckpoint(string(head) + "\n")
	if err != nil {
		return err
	}
	for n := int64(0); n*keylog.TileWidth < size.Size; n++ {
		width := int(min(keylog.TileWidth, size.Size-n*keylog.TileWidth))
		tile := a.once(ctx, request{operation: "log.entries", part: w.inEpoch(keylog.EntriesPath(n, width))})
		if !tile.succeeded() {
			return fmt.Errorf("tile %d of the key log: %d %s", n, tile.status, tile.body)
		}
		entries, err := keylog.ParseEntries(tile.body)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			log.Entries = append(log.Entries, entry.Bytes())
		}
	}
	return nil
}

// readProof reads an agent's own record and the proof of its entry, once the log has it. The judge reports what is missing.
func (a *Agent) readProof(ctx context.Context, until time.Time, log *history.Log) error {
	var card struct {
		Bot struct {
			KeyLog struct{ Index *int64 } `json:"key_log"`
		}
	}
	got := a.made(ctx, until, request{operation: "me.get", subject: a.Handle}, func(got answer) bool {
		return got.into(&card) == nil && card.Bot.KeyLog.Index != nil
	})
	if !got.succeeded() {
		return fmt.Errorf("%s: %d %s", a.Handle, got.status, got.body)
	}
	log.Cards[a.Handle] = got.body
	if card.Bot.KeyLog.Index != nil {
		proof := a.once(ctx, request{operation: history.LogProof, subject: a.Handle, part: a.w.inEpoch(fmt.Sprintf("proof/%d", *card.Bot.KeyLog.Index))})
		if proof.succeeded() {
			log.Proofs[a.Handle] = string(proof.body)
		}
	}
	return nil
}

// readReceipts reads what both sides of each order have of it, and the lists.
func (w *Workload) readReceipts(ctx context.Context, final *history.Final) error {
	until := time.Now().Add(madeWithin)
	for _, o := range w.orders.list(every[*order]) {
		state, _ := o.seen()
		for _, id := range []string{o.customer, o.contractor} {
			a := w.byID(id)
			got := a.made(ctx, until, request{operation: history.ReceiptGet, subject: o.id}, func(got answer) bool {
				return state != "closed" || !strings.Contains(string(got.body), `"proof":null`)
			})
			if got.succeeded() {
				final.Receipts[a.Handle+"/"+o.id] = got.body
			}
		}
	}
	type receipt struct {
		OrderID string `json:"order_id"`
	}
	for _, a := range w.all() {
		receipts, err := pages[receipt](ctx, a, request{operation: "receipt.list", subject: a.Handle}, "receipts", 0)
		if err != nil {
			return err
		}
		for _, r := range receipts {
			final.ReceiptLists[a.Handle] = append(final.ReceiptLists[a.Handle], r.OrderID)
		}
	}
	return nil
}
