package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stoa/cmd/prove/history"
)

// movement holds the sums that operations on an order move (§2.5), as the entries of the two participants show them.
type movement struct {
	operations []string
	postings   []posting
}

// posting is an entry: of the customer or the contractor, of one account, and of a multiple of the total or the amount.
type posting struct {
	contractor    bool
	account       string
	total, amount int64
}

// movements are by the kind of their entries.
var movements = map[string]movement{
	"reserve": {[]string{history.OrderAccept, history.TaskSelect}, []posting{{account: "available", total: -1}, {account: "reserved", total: 1}}},
	"payment": {[]string{history.OrderComplete}, []posting{{account: "reserved", total: -1}, {contractor: true, account: "available", amount: 1}}},
	"refund":  {[]string{history.OrderApproveRefund}, []posting{{account: "reserved", total: -1}, {account: "available", total: 1}}},
}

// causesOf are the requests that may have caused an entry.
func (r *run) causesOf(e *history.Entry) (causes []*request) {
	for _, q := range r.ofOrders[e.OrderID] {
		if slices.Contains(movements[e.Kind].operations, q.operation()) && (e.OperationID == "" || e.OperationID == q.id) {
			causes = append(causes, q)
		}
	}
	return causes
}

// checkPostings counts each entry of an order that there is, less those that have to be.
func checkPostings(r *run, f *Finding) {
	balance := make(map[string]int)
	count := func(agent, order, kind, account string, delta int64, by int) {
		f.Looked++
		balance[fmt.Sprintf("%s of order %s: %+d %s of %s", kind, order, delta, account, agent)] += by
	}
	for id, o := range r.orders {
		for _, e := range o.Events {
			for kind, m := range movements {
				if !slices.Contains(m.operations, "order."+e.Action) {
					continue
				}
				for _, p := range m.postings {
					owner := o.Order.CustomerID
					if p.contractor {
						owner = o.Order.ContractorID
					}
					count(r.handles[owner], id, kind, p.account, p.total*o.Order.TotalMinor+p.amount*o.Order.AmountMinor, -1)
				}
			}
		}
	}
	for agent, entries := range r.Final.Entries {
		for _, e := range entries {
			if _, ofOrder := movements[e.Kind]; ofOrder || e.OrderID != "" {
				count(agent, e.OrderID, e.Kind, e.AccountKind, e.DeltaMinor, 1)
			}
		}
	}
	for _, entry := range sorted(balance) {
		switch by := balance[entry]; {
		case by > 0:
			f.violatedf("%s is there %d times too often", entry, by)
		case by < 0:
			f.violatedf("%s is missing %d times", entry, -by)
		}
	}
}

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

// visible is the moment at which transaction k, counted from 0, can be seen: during the request that caused it.
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

// read is an answered wallet.get or wallet.history. What is wrong with it at any moment is reported; ok is false then, and for
// a page that does not begin with the newest entry.
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

// moneyMayBeShort reports whether at some moment of an attempt the customer's balance may have been below what it reserves.
func (r *run) moneyMayBeShort(a *history.Attempt) bool {
	needed, payer := sent(a).ConfirmedTotalMinor, a.Agent // of a selected response
	if a.Operation == history.TaskCreate {
		needed = sent(a).AmountMinor * 11 / 10 // at a fee of 10 %
	}
	if o := r.orders[a.Subject]; o != nil {
		needed, payer = o.Order.TotalMinor, r.handles[o.Order.CustomerID]
	}
	if needed == 0 || r.Final.Entries == nil {
		return true // its price is not known, or the entries are not yet
	}
	l := newLedger(payer, r.Final.Entries[payer], new(Finding))
	for k := 1; k < len(l.after); k++ {
		if k > 1 && l.visible(r, k-1, new(Finding)).start > a.End {
			return false // the transaction was not there yet
		}
		isOver := false
		if k+1 < len(l.after) {
			next := l.visible(r, k, new(Finding))
			isOver = !next.pending && next.end < a.Start
		}
		if !isOver && l.after[k].wallet.AvailableMinor < needed {
			return true
		}
	}
	return false
}
