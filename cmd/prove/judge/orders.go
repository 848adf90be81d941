package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stoa/cmd/prove/history"
)

// orderOf returns the id of the order that a request made or was about, or nothing if it is not known.
func (r *run) orderOf(q *request) string {
	if !makesOrder(q.operation()) && rules[q.operation()].to == "" {
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

func sameOrder(a, b *order) bool { return slices.Equal(a.versions, b.versions) }

// orderCalls are the requests to an order. The attempts of one request that succeeded are one call: it took effect once, between the
// first attempt and the first answer, and what else was asked before or after that changed nothing. Refusals are separate calls,
// since each is an answer about that moment. If no attempt succeeded, those of unknown effect are one pending call.
func (r *run) orderCalls(requests []*request, p parties, f *Finding) []call[*order] {
	var calls []call[*order]
	for _, q := range requests {
		var effective *call[*order]
		for _, a := range q.attempts {
			switch {
			case settled(a) && !a.Succeeded():
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
	if got != nil {
		c.text += fmt.Sprintf(" with version %d %s", got.Version, got.State)
	}
	c.step = func(before *order, pending bool) (bool, *order) {
		version, after, refusals := before.act(p, a)
		switch {
		case pending:
			return true, after
		case got == nil:
			return slices.Contains(refusals, a.Code), before
		case version == 0:
			return false, before
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

func checkOrderEvents(r *run, f *Finding) {
	type key struct {
		order   string
		version int64
	}
	caused := make(map[key]*request)
	maybe := make(map[[2]string]int) // by agent and operation, how many requests may have caused one unanswered
	for _, q := range r.requests {
		a := q.succeeded()
		switch {
		case !strings.HasPrefix(q.operation(), "order."):
			continue
		case a == nil:
			if q.unknown() > 0 {
				maybe[[2]string{q.agent, q.operation()}]++
			}
			continue
		}
		o := got(a).Order
		k := key{o.ID, o.Version}
		if other := caused[k]; other != nil {
			f.violatedf("order %s: version %d answers both %s and %s", o.ID, o.Version, other, q)
		}
		caused[k] = q
		if r.orders[o.ID] == nil || o.Version < 1 || o.Version > int64(len(r.orders[o.ID].Events)) {
			f.violatedf("%s was answered with version %d of order %s, which never became visible", q, o.Version, o.ID)
		}
	}
	for _, id := range sorted(r.Final.Orders) {
		o := r.orders[id]
		if o == nil {
			f.violatedf("order %s: the final answer is none", id)
			continue
		}
		if int64(len(o.Events)) != o.Order.Version {
			f.violatedf("order %s has version %d, but %d events", id, o.Order.Version, len(o.Events))
		}
		for i, e := range o.Events {
			f.Looked++
			if e.Version != int64(i+1) {
				f.violatedf("order %s: event %d has version %d", id, i+1, e.Version)
			}
			by := [2]string{r.handles[e.ParticipantID], "order." + e.Action}
			q := caused[key{id, e.Version}]
			switch {
			case q != nil && (q.agent != by[0] || q.operation() != by[1]):
				f.violatedf("order %s: version %d is %s by %s, but was answered to %s", id, e.Version, by[1], by[0], q)
			case q != nil:
			case maybe[by] > 0:
				maybe[by]--
			default:
				f.violatedf("order %s: nobody asked for version %d, %s by %s", id, e.Version, by[1], by[0])
			}
		}
	}
}
