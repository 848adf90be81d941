package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// public is a request that needs no token, for a path outside the API.
func public(operation, subject, path string) request {
	return request{operation: operation, subject: subject, method: http.MethodGet, path: path, page: true, keep: true}
}

// newStranger returns a client that is no agent.
func (w *Workload) newStranger(number int) *Agent {
	a := &Agent{w: w, random: w.random(1<<36 + uint64(number)), dice: w.random(1<<37 + uint64(number))}
	a.client, a.address = newHTTPClient(number)
	return a
}

// watchLog reads the head of the key log through all servers until ctx ends.
func (w *Workload) watchLog(ctx context.Context) {
	const number = 900
	a := w.newStranger(number)
	defer a.client.CloseIdleConnections()
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(watchPace))) {
		r := w.checkpoint()
		r.server, _ = a.twoServers()
		a.once(ctx, r)
	}
}

// made repeats a reading until it shows what it waits for, or a moment is over.
func (a *Agent) made(ctx context.Context, until time.Time, r request, is func(answer) bool) answer {
	for {
		got := a.once(ctx, r)
		if got.succeeded() && is(got) || time.Now().After(until) || !a.pause(ctx, madePace) {
			return got
		}
	}
}

// readLog reads the whole key log, and what it says of each agent.
func (w *Workload) readLog(ctx context.Context, final *history.Final) error {
	const number = 901
	a := w.newStranger(number)
	defer a.client.CloseIdleConnections()
	until, log := time.Now().Add(madeWithin), history.Log{Cards: make(map[string]json.RawMessage), Proofs: make(map[string]string)}
	for _, agent := range w.registered {
		if agent.bearer() == "" {
			continue // its token was lost with an answer
		}
		if err := agent.readProof(ctx, until, &log); err != nil {
			return err
		}
	}
	keys := a.once(ctx, public("log.keys", "", "/.well-known/stoa-keys.json"))
	receiptKeys := a.once(ctx, public("log.receipt-keys", "", "/.well-known/jwks.json"))
	checkpoint := a.once(ctx, w.checkpoint())
	if !keys.succeeded() || !receiptKeys.succeeded() || !checkpoint.succeeded() {
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
		tile := a.once(ctx, request{operation: "log.entries", method: http.MethodGet, path: w.inEpoch(keylog.EntriesPath(n, width)), page: true})
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
	final.Log = log
	return nil
}

// readProof reads an agent's own record and the proof of its entry, once the log has it.
func (a *Agent) readProof(ctx context.Context, until time.Time, log *history.Log) error {
	var card struct {
		Bot struct {
			KeyLog struct{ Index *int64 } `json:"key_log"`
		}
	}
	got := a.made(ctx, until, request{operation: "me.get", subject: a.Handle, method: http.MethodGet, path: "/bots/me"}, func(got answer) bool {
		return got.into(&card) == nil && card.Bot.KeyLog.Index != nil
	})
	if !got.succeeded() {
		return fmt.Errorf("%s: %d %s", a.Handle, got.status, got.body)
	}
	log.Cards[a.Handle] = got.body
	if card.Bot.KeyLog.Index == nil {
		return nil // the judge reports it
	}
	proof := a.once(ctx, public(history.LogProof, a.Handle, a.w.inEpoch(fmt.Sprintf("proof/%d", *card.Bot.KeyLog.Index))))
	if proof.succeeded() {
		log.Proofs[a.Handle] = string(proof.body)
	}
	return nil
}

// readReceipts reads what both sides of each order have of it, and the lists.
func (w *Workload) readReceipts(ctx context.Context, final *history.Final) error {
	byID := make(map[string]*Agent)
	for _, a := range w.registered {
		byID[a.ID] = a
	}
	until := time.Now().Add(madeWithin)
	final.Receipts, final.ReceiptLists = make(map[string]json.RawMessage), make(map[string][]string)
	for _, o := range w.orders.orders {
		state, _ := o.seen()
		for _, id := range []string{o.customer, o.contractor} {
			a := byID[id]
			r := request{operation: history.ReceiptGet, subject: o.id, method: http.MethodGet, path: "/orders/" + o.id + "/receipt", keep: true}
			var got answer
			if state == "closed" {
				got = a.made(ctx, until, r, func(got answer) bool { return !strings.Contains(string(got.body), `"proof":null`) })
			} else {
				got = a.once(ctx, r)
			}
			if got.succeeded() {
				final.Receipts[a.Handle+"/"+o.id] = got.body
			}
		}
	}
	for _, a := range w.all() {
		for before := ""; ; {
			got := a.once(ctx, request{operation: "receipt.list", subject: a.Handle, method: http.MethodGet, path: "/receipts" + before})
			var page struct {
				Receipts []struct {
					OrderID string `json:"order_id"`
				}
				NextBefore *string `json:"next_before"`
			}
			if !got.succeeded() || got.into(&page) != nil {
				return fmt.Errorf("receipts of %s: %d %s", a.Handle, got.status, got.body)
			}
			for _, r := range page.Receipts {
				final.ReceiptLists[a.Handle] = append(final.ReceiptLists[a.Handle], r.OrderID)
			}
			if page.NextBefore == nil {
				break
			}
			before = "?before=" + *page.NextBefore
		}
	}
	return nil
}
