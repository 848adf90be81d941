package judge

import (
	"time"

	"stoa/cmd/prove/history"
)

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
func (r *run) causesOf(e *history.Entry) []*request {
	if e.OperationID != "" {
		return r.byID[e.OperationID]
	}
	var causes []*request
	for _, q := range r.ofOrders[e.OrderID] {
		for _, operation := range movements[e.Kind].operations {
			if q.operation() == operation {
				causes = append(causes, q)
			}
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
