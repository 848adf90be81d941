package judge

import (
	"fmt"
	"net/http"
	"slices"

	"stoa/cmd/prove/history"
)

// orderOf returns the id of the order that a request made or was about, or nothing if it is not known.
func (r *run) orderOf(q *request) string {
	switch {
	case besides(q.attempts[0]):
		return q.attempts[0].Subject
	case !makesOrder(q.operation()) && rules[q.operation()].to == "":
		return ""
	}
	if a := q.succeeded(); a != nil && got(a).Order.ID != "" {
		return got(a).Order.ID
	}
	id := q.attempts[0].Subject
	if makesOrder(q.operation()) && r.orders[id] == nil {
		return "" // it may never have been made
	}
	return id
}

// checkOrders looks for a sequence of states of each order that explains all answers. Before the end only orders whose offer was
// answered are judged.
func checkOrders(r *run, f *Finding) {
	reads := make(map[string][]*history.Attempt)
	subjects := make(map[string]bool)
	for _, a := range r.by[history.OrderGet] {
		if settled(a) {
			reads[a.Subject], subjects[a.Subject] = append(reads[a.Subject], a), true
		}
	}
	for id := range r.ofOrders {
		subjects[id] = true
	}
	made := make(map[string]bool)
	for _, a := range r.by[history.OrderCreate] {
		made[got(a).Order.ID] = true
	}
	for _, id := range sorted(subjects) {
		o := r.orders[id]
		switch {
		case r.Final.Orders == nil && !made[id], o == nil && r.lost.gone[id]:
			continue
		case o == nil:
			f.violatedf("order %s cannot be read at the end", id)
			continue
		}
		p := parties{r.handles[o.Order.AuthorID], r.handles[o.Order.CustomerID], r.handles[o.Order.ContractorID]}
		calls := r.orderCalls(r.ofOrders[id], p, f)
		for _, a := range reads[id] {
			b, ok := got(a), true
			if a.Succeeded() {
				b, ok = read(f, a)
			}
			if ok {
				calls = append(calls, r.readCall(p, a, b))
			}
		}
		f.Looked += len(calls)
		if r.Final.Orders != nil {
			calls = append(calls, r.readCall(p, &history.Attempt{
				Agent: p.customer, Operation: history.OrderGet, Subject: id, Start: r.end(), End: r.end(), Status: http.StatusOK,
			}, o))
		}
		linearize(f, "order "+id, new(order), sameOrder, calls)
	}
}

// orderCalls are the requests to an order. The attempts of one request that succeeded are one call: it took effect once, between the
// first attempt and the first answer, and what else was asked before or after that changed nothing. Refusals are separate calls,
// since each is an answer about that moment. If no attempt succeeded, those of unknown effect are one pending call.
func (r *run) orderCalls(requests []*request, p parties, f *Finding) []call[*order] {
	var calls []call[*order]
	for _, q := range requests {
		var effective *call[*order]
		for _, a := range q.attempts {
			switch {
			case settled(a) && !a.Succeeded() && !(a.Code == "not_found" && r.isGone(a)):
				refusal := actCall(p, a, nil)
				refusal.reads = true
				calls = append(calls, refusal)
			case unknown(a) && effective == nil:
				c := actCall(p, a, nil)
				c.pending, effective = true, &c
			}
		}
		if a := q.succeeded(); a != nil {
			b, ok := read(f, a)
			if !ok {
				continue
			}
			if made := *a; a.Operation == history.DraftSend {
				made.Of = b.Draft.ID
				a = &made
			}
			c := actCall(p, a, &b.Order)
			c.start, effective = q.begun(), &c
		}
		if effective != nil {
			calls = append(calls, *effective)
		}
	}
	return calls
}

// actCall is an attempt at an operation: one with an answer, a refusal, or, if it is made pending, one of unknown effect.
func actCall(p parties, a *history.Attempt, got *orderCard) call[*order] {
	c := call[*order]{start: a.Start, end: a.End, text: Describe(a)}
	if got != nil && !besides(a) {
		c.text += fmt.Sprintf(" with version %d %s", got.Version, got.State)
	}
	c.step = func(before *order, pending bool) (bool, *order) {
		version, after, refusals := before.act(p, a)
		switch {
		case pending:
			return true, after
		case got == nil:
			return slices.Contains(refusals, a.Code), before
		case version == 0 || besides(a):
			return version > 0, after
		}
		made := after.versions[version-1]
		fits := got.Version == int64(version) && got.State == made.state && got.Outcome == made.outcome
		return fits && (a.Subject == "" || got.ID == a.Subject), after
	}
	return c
}

// readCall is an answered order.get.
func (r *run) readCall(p parties, a *history.Attempt, got *answer) call[*order] {
	text := Describe(a)
	if a.Succeeded() {
		text += fmt.Sprintf(" with version %d %s", got.Order.Version, got.Order.State)
	}
	return call[*order]{start: a.Start, end: a.End, reads: true, text: text, step: func(o *order, _ bool) (bool, *order) {
		if len(o.versions) == 0 || a.Agent != p.customer && a.Agent != p.contractor {
			return a.Code == "not_found", o
		}
		fits := a.Succeeded() && got.Order.Version == int64(len(o.versions)) && got.Order.State == o.state() &&
			got.Order.Outcome == o.versions[len(o.versions)-1].outcome && len(got.Events) == len(o.versions)
		for i := 0; fits && i < len(o.versions); i++ {
			e, v := got.Events[i], o.versions[i]
			told := version{"order." + e.Action, r.handles[e.ParticipantID], v.id, e.State, v.outcome}
			fits = told == v && e.Version == int64(i+1)
		}
		return fits, o
	}}
}
