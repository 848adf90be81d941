package judge

import (
	"fmt"
	"slices"

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
