package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stoa/cmd/prove/history"
)

// orderAnswer holds the judged members of answers about an order. Events are only in those of order.get.
type orderAnswer struct {
	Order struct {
		ID           string `json:"id"`
		State        string `json:"state"`
		Version      int64  `json:"version"`
		Outcome      string `json:"outcome"`
		CustomerID   string `json:"customer_id"`
		ContractorID string `json:"contractor_id"`
		AuthorID     string `json:"author_id"`
		AmountMinor  int64  `json:"amount_minor"`
		TotalMinor   int64  `json:"total_minor"`
	} `json:"order"`
	Events []orderEvent `json:"events"`
}

type orderEvent struct {
	Action        string `json:"action"`
	ParticipantID string `json:"participant_id"`
	State         string `json:"state"`
	Version       int64  `json:"version"`
}

// subject is an order with everything that was asked of it.
type subject struct {
	parties
	requests []*request
	reads    []*history.Attempt
}

// subjects groups the requests and reads by order.
func subjects(r *run) map[string]*subject {
	orders := make(map[string]*subject)
	of := func(id string) *subject {
		if orders[id] == nil {
			orders[id] = new(subject)
		}
		return orders[id]
	}
	for _, q := range r.requests {
		if id := r.orderOf(q); id != "" {
			of(id).requests = append(of(id).requests, q)
		}
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Operation == history.OrderGet && settled(a) {
			of(a.Subject).reads = append(of(a.Subject).reads, a)
		}
	}
	for id, o := range orders {
		if answer := r.orders[id]; answer != nil {
			told := answer.Order
			o.parties = parties{r.handles[told.AuthorID], r.handles[told.CustomerID], r.handles[told.ContractorID]}
		}
	}
	return orders
}

// orderOf returns the id of the order that a request made or was about, or empty or it is not known.
func (r *run) orderOf(q *request) string {
	if !makesOrder(q.operation()) && rules[q.operation()].to == "" {
		return ""
	}
	if a := q.succeeded(); a != nil && effectOf(a).Order.ID != "" {
		return effectOf(a).Order.ID
	}
	id := q.attempts[0].Subject
	if makesOrder(q.operation()) && r.orders[id] == nil {
		return "" // it may never have been made
	}
	return id
}

func checkOrders(r *run, f *Finding) {
	orders := subjects(r)
	for _, id := range sorted(orders) {
		o := orders[id]
		if r.orders[id] == nil && r.lost.gone[id] {
			continue
		}
		if r.orders[id] == nil {
			f.violatedf("order %s cannot be read at the end", id)
			continue
		}
		calls := o.calls(f)
		f.Looked += len(calls)
		calls = append(calls, readCall(o.parties, &history.Attempt{
			Agent: o.customer, Operation: history.OrderGet, Subject: id, Start: r.end(), End: r.end(), Status: http.StatusOK,
		}, r.orders[id], r.handles))
		for _, a := range o.reads {
			answer, ok := new(orderAnswer), true
			if a.Succeeded() {
				*answer, ok = decode[orderAnswer](f, a)
			}
			if ok {
				f.Looked++
				calls = append(calls, readCall(o.parties, a, answer, r.handles))
			}
		}
		linearize(f, "order "+id, new(order), sameOrder, calls)
	}
}

func sameOrder(a, b any) bool {
	return slices.Equal(a.(*order).versions, b.(*order).versions) //nolint:forcetypeassert // the model's only states
}

// calls are the requests to an order. The attempts of one request that succeeded are one call: it took effect once, between the
// first attempt and the first answer, and what else was asked before or after that changed nothing. Refusals are separate calls,
// since each is an answer about that moment. Where no attempt succeeded, those of unknown effect are one pending call.
func (o *subject) calls(f *Finding) []call {
	var calls []call
	for _, q := range o.requests {
		effective := call{pending: true}
		for _, a := range q.attempts {
			switch {
			case settled(a) && !a.Succeeded():
				refusal := o.actCall(a, nil)
				refusal.reads = true
				calls = append(calls, refusal)
			case unknown(a) && effective.step == nil:
				effective = o.actCall(a, nil)
				effective.pending = true
			}
		}
		if a := q.succeeded(); a != nil {
			answer, ok := decode[orderAnswer](f, a)
			if !ok {
				continue
			}
			effective = o.actCall(a, &answer)
			effective.start = q.begun()
		}
		if effective.step != nil {
			calls = append(calls, effective)
		}
	}
	return calls
}

// actCall is an attempt at an operation: one with an answer, a refusal, or, if it is made pending, one of unknown effect.
func (o *subject) actCall(a *history.Attempt, answer *orderAnswer) call {
	q := asked{a.Operation, a.Agent, a.ID, a.Version}
	c := call{start: a.Start, end: a.End, text: describe(a)}
	if answer != nil {
		c.text += fmt.Sprintf(" with version %d %s", answer.Order.Version, answer.Order.State)
	}
	c.step = func(state any, pending bool) (bool, any) {
		before := state.(*order) //nolint:forcetypeassert // the model's only state
		version, after, refusals := before.act(o.parties, q)
		switch {
		case pending:
			return true, after
		case answer == nil:
			return slices.Contains(refusals, a.Code), before
		case version == 0:
			return false, before
		}
		made := after.versions[version-1]
		got := answer.Order
		fits := got.Version == int64(version) && got.State == made.state && got.Outcome == made.outcome
		return fits && (a.Subject == "" || got.ID == a.Subject), after
	}
	return c
}

// readCall is an answered order.get.
func readCall(p parties, a *history.Attempt, answer *orderAnswer, handles map[string]string) call {
	got := answer.Order
	text := describe(a)
	if a.Succeeded() {
		text += fmt.Sprintf(" with version %d %s", got.Version, got.State)
	}
	return call{start: a.Start, end: a.End, reads: true, text: text, step: func(state any, _ bool) (bool, any) {
		o := state.(*order) //nolint:forcetypeassert // the model's only state
		if len(o.versions) == 0 || a.Agent != p.customer && a.Agent != p.contractor {
			return a.Code == "not_found", o
		}
		fits := a.Succeeded() && got.Version == int64(len(o.versions)) && got.State == o.state() &&
			got.Outcome == o.versions[len(o.versions)-1].outcome && len(answer.Events) == len(o.versions)
		for i := 0; fits && i < len(o.versions); i++ {
			e, v := answer.Events[i], o.versions[i]
			told := version{"order." + e.Action, handles[e.ParticipantID], v.id, e.State, v.outcome}
			fits = told == v && e.Version == int64(i+1)
		}
		return fits, o
	}}
}

func checkOrderEvents(r *run, f *Finding) {
	caused := make(map[string]map[int64]*request) // by order and version, what was answered with it
	maybe := make(map[[2]string]int)              // by agent and operation, how many requests may have caused one unanswered
	for _, q := range r.requests {
		if !strings.HasPrefix(q.operation(), "order.") {
			continue
		}
		a := q.succeeded()
		if a == nil {
			if q.unknown() > 0 {
				maybe[[2]string{q.agent, q.operation()}]++
			}
			continue
		}
		answer := effectOf(a).Order
		id, version := answer.ID, answer.Version
		if caused[id] == nil {
			caused[id] = make(map[int64]*request)
		}
		if other := caused[id][version]; other != nil {
			f.violatedf("order %s: version %d answers both %s and %s", id, version, other, q)
		}
		caused[id][version] = q
		if r.orders[id] == nil || version < 1 || version > int64(len(r.orders[id].Events)) {
			f.violatedf("%s was answered with version %d of order %s, which never became visible", q, version, id)
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
			agent, operation := r.handles[e.ParticipantID], "order."+e.Action
			q := caused[id][e.Version]
			switch key := [2]string{agent, operation}; {
			case q != nil && (q.agent != agent || q.operation() != operation):
				f.violatedf("order %s: version %d is %s by %s, but was answered to %s", id, e.Version, operation, agent, q)
			case q != nil:
			case maybe[key] > 0:
				maybe[key]--
			default:
				f.violatedf("order %s: nobody asked for version %d, %s by %s", id, e.Version, operation, agent)
			}
		}
	}
}
