package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stoa/cmd/prove/history"
)

// initialGrant is the credit of a registration, in minor units (§2.5).
const initialGrant = 500_000

// ledger is an agent's entries with what they add up to.
type ledger struct {
	handle  string
	entries []history.Entry
	// after holds, for each number of transactions, how many entries and which balances they make.
	after []position
}

type position struct {
	entries int
	wallet  history.Wallet
}

// newLedger groups the entries by transaction, and reports what is wrong with them in themselves.
func newLedger(handle string, entries []history.Entry, f *Finding) *ledger {
	l := &ledger{handle: handle, entries: entries, after: []position{{}}}
	var now position
	done := make(map[string]bool)
	for i, e := range entries {
		f.Looked++
		if e.ID != int64(i+1) {
			f.violatedf("wallet of %s: entry %d has number %d", handle, i+1, e.ID)
		}
		if i > 0 && e.TransactionID != entries[i-1].TransactionID {
			l.close(now, entries[i-1].TransactionID, done, f)
		}
		now.entries++
		now.wallet.TotalMinor += e.DeltaMinor
		if e.AccountKind == "reserved" {
			now.wallet.ReservedMinor += e.DeltaMinor
		} else {
			now.wallet.AvailableMinor += e.DeltaMinor
		}
	}
	if len(entries) == 0 || entries[0].Kind != "grant" || entries[0].DeltaMinor != initialGrant {
		f.violatedf("wallet of %s does not begin with the grant", handle)
	}
	if len(entries) > 0 {
		l.close(now, entries[len(entries)-1].TransactionID, done, f)
	}
	return l
}

// close ends a transaction.
func (l *ledger) close(now position, transaction string, done map[string]bool, f *Finding) {
	if done[transaction] {
		f.violatedf("wallet of %s: the entries of transaction %s are not together", l.handle, transaction)
	}
	if now.wallet.AvailableMinor < 0 || now.wallet.ReservedMinor < 0 {
		f.violatedf("wallet of %s: below zero after transaction %s: %+v", l.handle, transaction, now.wallet)
	}
	done[transaction] = true
	l.after = append(l.after, now)
}

func checkWallets(r *run, f *Finding) {
	byOrder := make(map[[2]string][]*request)
	for _, q := range r.requests {
		key := [2]string{r.orderOf(q), q.operation()}
		byOrder[key] = append(byOrder[key], q)
	}
	reads := make(map[string][]*history.Attempt)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Succeeded() && (a.Operation == history.WalletGet || a.Operation == history.WalletHistory) {
			reads[a.Agent] = append(reads[a.Agent], a)
		}
	}
	for _, handle := range sorted(reads) {
		if _, known := r.Final.Entries[handle]; !known {
			f.violatedf("wallet of %s cannot be read at the end", handle)
		}
	}
	for _, handle := range sorted(r.Final.Entries) {
		l := newLedger(handle, r.Final.Entries[handle], f)
		var calls []call
		for k := 1; k+1 < len(l.after); k++ { // the grant is there from the beginning
			calls = append(calls, l.visible(k, byOrder, f))
		}
		for _, a := range reads[handle] {
			f.Looked++
			if c, ok := l.read(a, f); ok {
				calls = append(calls, c)
			}
		}
		calls = append(calls, l.balances(r.Final.Wallets[handle], call{start: r.end(), end: r.end(), text: "the final balances"}))
		linearize(f, "wallet of "+handle, min(1, len(l.after)-1), func(a, b any) bool { return a == b }, calls)
	}
}

// visible is the moment at which transaction k, counted from 0, can be seen: during the request that caused it.
func (l *ledger) visible(k int, byOrder map[[2]string][]*request, f *Finding) call {
	first := l.entries[l.after[k].entries]
	c := call{
		pending: true, text: fmt.Sprintf("transaction %s (%s) of %s", first.TransactionID, first.Kind, l.handle),
		step: func(state any, pending bool) (bool, any) {
			if state == k {
				return true, k + 1
			}
			return pending, state
		},
	}
	operation, ofOrder := movements[first.Kind]
	if !ofOrder {
		return c
	}
	var causes []*request
	for _, name := range operation.operations {
		causes = append(causes, byOrder[[2]string{first.OrderID, name}]...)
	}
	if first.OperationID != "" {
		causes = slices.DeleteFunc(slices.Clone(causes), func(q *request) bool { return q.id != first.OperationID })
	}
	causes = slices.DeleteFunc(slices.Clone(causes), func(q *request) bool { return q.succeeded() == nil && q.unknown() == 0 })
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

// read is an answered wallet.get or wallet.history. What is wrong with it at any moment is reported; ok is false then, and for
// a page that does not begin with the newest entry.
func (l *ledger) read(a *history.Attempt, f *Finding) (c call, ok bool) {
	c = call{start: a.Start, end: a.End, reads: true, text: describe(a)}
	if a.Operation == history.WalletGet {
		body, ok := decode[struct{ Wallet history.Wallet }](f, a)
		c.text += fmt.Sprintf(" with %+v", body.Wallet)
		return l.balances(body.Wallet, c), ok
	}
	body, ok := decode[struct {
		Entries    []history.Entry `json:"entries"`
		NextBefore *int64          `json:"next_before"`
	}](f, a)
	if !ok {
		return c, false
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
	c.step = func(state any, _ bool) (bool, any) { return l.position(state).entries == int(newest), state }
	return c, !later
}

func (l *ledger) balances(w history.Wallet, c call) call {
	c.step = func(state any, _ bool) (bool, any) { return l.position(state).wallet == w, state }
	return c
}

func (l *ledger) position(state any) position { return l.after[state.(int)] } //nolint:forcetypeassert // the model's only states
