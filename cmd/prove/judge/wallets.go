package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stoa/cmd/prove/history"
)

// movements are the operations on an order that move its money, by the kind of the entries (§2.5).
var movements = map[string][]string{
	"reserve": {history.OrderAccept, history.TaskSelect},
	"payment": {history.OrderComplete},
	"refund":  {history.OrderApproveRefund},
}

// causesOf returns the requests that may have caused an entry.
func (r *run) causesOf(e *history.Entry) (causes []*request) {
	for _, q := range r.ofOrders[e.OrderID] {
		if slices.Contains(movements[e.Kind], q.operation()) && (e.OperationID == "" || e.OperationID == q.id) {
			causes = append(causes, q)
		}
	}
	return causes
}

// initialGrant is the credit of a registration, in minor units (§2.5).
const initialGrant = 500_000

// ledger is an agent's entries with their sums.
type ledger struct {
	handle  string
	entries []history.Entry
	// after holds, for each number of transactions, the number of entries and the balances.
	after []position
}

type position struct {
	entries int
	wallet  history.Wallet
}

// newLedger groups the entries by transaction, and reports their own errors.
func newLedger(handle string, entries []history.Entry, f *Finding) *ledger {
	l := &ledger{handle: handle, entries: entries, after: []position{{}}}
	var now position
	done := make(map[string]bool)
	if len(entries) == 0 || entries[0].Kind != "grant" || entries[0].DeltaMinor != initialGrant {
		f.violatedf("wallet of %s does not begin with the grant", handle)
	}
	for i, e := range entries {
		f.Looked++
		if e.ID != int64(i+1) {
			f.violatedf("wallet of %s: entry %d has number %d", handle, i+1, e.ID)
		}
		now.entries++
		now.wallet.TotalMinor += e.DeltaMinor
		if e.AccountKind == "reserved" {
			now.wallet.ReservedMinor += e.DeltaMinor
		} else {
			now.wallet.AvailableMinor += e.DeltaMinor
		}
		if i+1 < len(entries) && entries[i+1].TransactionID == e.TransactionID {
			continue // the transaction goes on
		}
		if done[e.TransactionID] {
			f.violatedf("wallet of %s: the entries of transaction %s are not together", handle, e.TransactionID)
		}
		if now.wallet.AvailableMinor < 0 || now.wallet.ReservedMinor < 0 {
			f.violatedf("wallet of %s: below zero after transaction %s: %+v", handle, e.TransactionID, now.wallet)
		}
		done[e.TransactionID], l.after = true, append(l.after, now)
	}
	return l
}

func checkWallets(r *run, f *Finding) {
	reads := make(map[string][]*history.Attempt)
	for _, a := range r.answered(history.WalletGet, history.WalletHistory) {
		reads[a.Agent] = append(reads[a.Agent], a)
	}
	for _, handle := range sorted(reads) {
		if _, known := r.Final.Entries[handle]; !known {
			f.violatedf("wallet of %s cannot be read at the end", handle)
		}
	}
	for _, handle := range sorted(r.Final.Entries) {
		l := newLedger(handle, r.Final.Entries[handle], f)
		var calls []call[int]
		for k := 1; k+1 < len(l.after); k++ { // the grant is there from the beginning
			calls = append(calls, l.visible(r, k, f))
		}
		for _, a := range reads[handle] {
			f.Looked++
			if c, ok := l.read(a, f); ok {
				calls = append(calls, c)
			}
		}
		calls = append(calls, l.balances(r.Final.Wallets[handle], call[int]{start: r.end(), end: r.end(), text: "the final balances"}))
		linearize(f, "wallet of "+handle, min(1, len(l.after)-1), func(a, b int) bool { return a == b }, calls)
	}
}

// visible returns the call that makes transaction k, counted from 0, visible: during the request that caused it.
func (l *ledger) visible(r *run, k int, f *Finding) call[int] {
	first := l.entries[l.after[k].entries]
	c := call[int]{
		pending: true, text: fmt.Sprintf("transaction %s (%s) of %s", first.TransactionID, first.Kind, l.handle),
		step: func(state int, pending bool) (bool, int) {
			if state == k {
				return true, k + 1
			}
			return pending, state
		},
	}
	if _, ofOrder := movements[first.Kind]; !ofOrder {
		return c
	}
	causes := slices.DeleteFunc(r.causesOf(&first), func(q *request) bool { return !slices.ContainsFunc(q.attempts, mayHaveActed) })
	if len(causes) == 0 {
		f.violatedf("wallet of %s: nobody asked for entry %d, %s of order %s", l.handle, first.ID, first.Kind, first.OrderID)
		return c
	}
	c.start = causes[0].begun()
	for _, q := range causes {
		c.start = min(c.start, q.begun())
		if a := q.succeeded(); a != nil {
			c.start, c.end, c.pending = q.begun(), a.End, false
			break
		}
	}
	return c
}

// read returns the call of an answered wallet.get or wallet.history. It reports an answer that is wrong at any moment; then ok is
// false, as for a page that does not begin with the newest entry.
func (l *ledger) read(a *history.Attempt, f *Finding) (c call[int], ok bool) {
	c = call[int]{start: a.Start, end: a.End, reads: true, text: Describe(a)}
	body, ok := read(f, a)
	switch {
	case !ok:
		return c, false
	case a.Operation == history.WalletGet:
		c.text += fmt.Sprintf(" with %+v", body.Wallet)
		return l.balances(body.Wallet, c), true
	}
	later := strings.Contains(a.Subject, "before=")
	if len(body.Entries) == 0 {
		if !later {
			f.violatedf("%s lists no entries", c.text)
		}
		return c, false
	}
	newest := body.Entries[0].ID
	if _, before, _ := strings.Cut(a.Subject, "before="); later && before != strconv.FormatInt(newest+1, 10) {
		f.violatedf("%s begins with entry %d", c.text, newest)
	}
	for i, e := range body.Entries {
		at := newest - int64(i)
		if at < 1 || at > int64(len(l.entries)) || l.entries[at-1] != e {
			f.violatedf("%s lists %+v as entry %d, which is another in the end", c.text, e, at)
			return c, false
		}
	}
	if last := body.Entries[len(body.Entries)-1].ID; body.NextBefore == nil && last != 1 {
		f.violatedf("%s ends with entry %d", c.text, last)
	}
	c.text += fmt.Sprintf(" with entry %d as the newest", newest)
	c.step = func(state int, _ bool) (bool, int) { return l.after[state].entries == int(newest), state }
	return c, !later
}

func (l *ledger) balances(w history.Wallet, c call[int]) call[int] {
	c.step = func(state int, _ bool) (bool, int) { return l.after[state].wallet == w, state }
	return c
}
