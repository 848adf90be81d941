package judge

import (
	"slices"

	"stoa/cmd/prove/history"
)

// checkReceipts judges both sides' receipts of each order (§12.5), as their own client has verified them.
func checkReceipts(r *run, f *Finding) {
	if r.Final.Receipts == nil {
		return // the run ended before they were read
	}
	for _, id := range sorted(r.orders) {
		o := r.orders[id].Order
		made, unsure := r.ratingsOf(id)
		for _, side := range o.sides() {
			f.Looked++
			agent := r.handles[side]
			got, there := r.Final.Receipts[agent+"/"+id]
			lacks := func(rating string) bool { return !slices.Contains(got.Ratings, rating) }
			switch {
			case there != (o.State == closed):
				f.violatedf("order %s is %s, and %s has a receipt: %t", id, o.State, agent, there)
			case !there:
			case got.Wrong != "":
				f.violatedf("the receipt of order %s for %s: %s", id, agent, got.Wrong)
			case got.Outcome != o.Outcome || got.OrderVersion != o.Version || got.TotalMinor != o.TotalMinor:
				f.violatedf("the receipt of order %s for %s says %+v", id, agent, got)
			case slices.ContainsFunc(made, lacks) || len(got.Ratings) > len(made)+unsure:
				f.violatedf("the receipt of order %s for %s has the ratings %v, and %v were made", id, agent, got.Ratings, made)
			}
		}
	}
}

// ratingsOf returns the ids of an order's answered ratings, and how many more there may be.
func (r *run) ratingsOf(order string) (ids []string, unsure int) {
	for _, q := range r.requests {
		switch a := q.succeeded(); {
		case q.operation() != history.OrderRate || q.attempts[0].Subject != order:
		case a != nil:
			ids = append(ids, got(a).Rating.ID)
		case q.unknown() > 0:
			unsure++
		}
	}
	return ids, unsure
}
