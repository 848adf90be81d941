package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
	"payment": {[]string{history.OrderComplete}, []posting{
		{account: "reserved", total: -1}, {contractor: true, account: "available", amount: 1},
	}},
	"refund": {[]string{history.OrderApproveRefund}, []posting{{account: "reserved", total: -1}, {account: "available", total: 1}}},
}

// movedBy returns the movement of an operation, nothing where it moves no money.
func movedBy(operation string) (kind string, postings []posting) {
	for kind, m := range movements {
		if slices.Contains(m.operations, operation) {
			return kind, m.postings
		}
	}
	return "", nil
}

func checkPostings(r *run, f *Finding) {
	type key struct {
		handle, order, kind, account string
		delta                        int64
	}
	balance := make(map[key]int) // entries that are there, less those that have to be
	var seen []key
	count := func(k key, by int) {
		if _, known := balance[k]; !known {
			seen = append(seen, k)
		}
		balance[k] += by
	}
	for _, id := range sorted(r.orders) {
		o := r.orders[id]
		for _, e := range o.Events {
			kind, postings := movedBy("order." + e.Action)
			for _, p := range postings {
				f.Looked++
				owner := o.Order.CustomerID
				if p.contractor {
					owner = o.Order.ContractorID
				}
				delta := p.total*o.Order.TotalMinor + p.amount*o.Order.AmountMinor
				count(key{r.handles[owner], id, kind, p.account, delta}, -1)
			}
		}
	}
	for _, handle := range sorted(r.Final.Entries) {
		for _, e := range r.Final.Entries[handle] {
			if _, ofOrder := movements[e.Kind]; ofOrder || e.OrderID != "" {
				f.Looked++
				count(key{handle, e.OrderID, e.Kind, e.AccountKind, e.DeltaMinor}, 1)
			}
		}
	}
	for _, k := range seen {
		text := fmt.Sprintf("%s of order %s: %+d %s of %s", k.kind, k.order, k.delta, k.account, k.handle)
		switch by := balance[k]; {
		case by > 0:
			f.violatedf("%s is there %d times too often", text, by)
		case by < 0:
			f.violatedf("%s is missing %d times", text, -by)
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
	reads := make(map[string][]*history.Attempt)
	for _, a := range r.of(history.WalletGet, history.WalletHistory) {
		if a.Succeeded() {
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
			calls = append(calls, l.visible(r, k, f))
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
func (l *ledger) visible(r *run, k int, f *Finding) call {
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
func (l *ledger) read(a *history.Attempt, f *Finding) (c call, ok bool) {
	c = call{start: a.Start, end: a.End, reads: true, text: Describe(a)}
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
	c.step = func(state any, _ bool) (bool, any) { return l.position(state).entries == int(newest), state }
	return c, !later
}

func (l *ledger) balances(w history.Wallet, c call) call {
	c.step = func(state any, _ bool) (bool, any) { return l.position(state).wallet == w, state }
	return c
}

func (l *ledger) position(state any) position { return l.after[state.(int)] } //nolint:forcetypeassert // the model's only states

// moneyMayBeShort says that at some moment of an attempt the customer's balance may have been below what it reserves.
func (r *run) moneyMayBeShort(a *history.Attempt) bool {
	needed := r.reserves(a)
	if needed == 0 || r.Final.Entries == nil {
		return true // its price is not known, or the entries are not yet
	}
	entries := r.Final.Entries[r.payer(a)]
	var balance int64
	for i := range entries {
		if entries[i].AccountKind == "available" {
			balance += entries[i].DeltaMinor
		}
		more := i+1 < len(entries)
		switch {
		case more && entries[i+1].TransactionID == entries[i].TransactionID:
		case more && r.before(&entries[i+1], a.Start): // the next transaction was there, too
		case balance < needed:
			return true
		case more && r.after(&entries[i+1], a.End): // the next transaction was not there yet
			return false
		}
	}
	return false
}

// payer is the customer of an accepted order or a selected response.
func (r *run) payer(a *history.Attempt) string {
	if o := r.orders[a.Subject]; o != nil {
		return r.handles[o.Order.CustomerID]
	}
	return a.Agent
}

// reserves returns the sum that an accepted order or a selected response reserves.
func (r *run) reserves(a *history.Attempt) int64 {
	if o := r.orders[a.Subject]; o != nil {
		return o.Order.TotalMinor
	}
	return sent(a).ConfirmedTotalMinor
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

// before says that an entry was certainly visible at a moment.
func (r *run) before(e *history.Entry, at time.Duration) bool {
	if e.Kind == "grant" {
		return true
	}
	for _, q := range r.causesOf(e) {
		if a := q.succeeded(); a != nil {
			return a.End < at
		}
	}
	return false
}

// after says that an entry was certainly not visible at a moment.
func (r *run) after(e *history.Entry, at time.Duration) bool {
	causes := r.causesOf(e)
	for _, q := range causes {
		if q.start() <= at {
			return false
		}
	}
	return len(causes) > 0
}
