package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// Early judges a history that goes on by what was known at a moment, with the checks whose findings no later request, event or fault
// can change. Every request that began before until must be in the history if it has ended. The faults must hold those that are in
// force. It only reads the history.
func Early(h *history.History, until time.Duration) []Finding {
	return alongLosses(h, until, func() []Finding { return early(h, until) })
}

// early judges what was known at a moment.
func early(h *history.History, until time.Duration) []Finding {
	r := newRun(known(h, until))
	var findings []Finding
	for _, c := range checks {
		if c.early != nil {
			f := Finding{Name: c.name, Promise: c.promise}
			c.early(r, &f)
			findings = append(findings, f)
		}
	}
	return findings
}

// known returns the part of a history that was known at a moment. A request under way has no answer yet, and a fault that begins then
// excuses it.
func known(h *history.History, until time.Duration) *history.History {
	k := *h
	k.Length, k.Final = until, history.Final{}
	k.Attempts, k.Deliveries, k.Acks, k.Mails, k.Bursts = nil, nil, nil, nil, nil
	for _, a := range h.Attempts {
		if a.Start > until {
			continue
		}
		if a.End > until {
			a.Status, a.Code, a.Body, a.Process, a.Failure = history.Unanswered, "", nil, "", "it was under way"
			a.Replayed, a.RetryAfter = false, false
		}
		k.Attempts = append(k.Attempts, a)
	}
	keep(&k.Deliveries, h.Deliveries, func(d *history.Delivery) bool { return d.At <= until })
	keep(&k.Acks, h.Acks, func(a *history.Ack) bool { return a.Answered <= until })
	keep(&k.Mails, h.Mails, func(m *history.Mail) bool { return m.At <= until })
	k.Losses = slices.DeleteFunc(slices.Clone(h.Losses), func(l history.Loss) bool { return l.Restored > until })
	keep(&k.Bursts, h.Bursts, func(b *history.Burst) bool { return b.End <= until })
	later := until + 24*time.Hour
	k.Faults = append(slices.Clone(h.Faults), history.Fault{Name: "what is not known yet", Start: until, Lifted: later, End: later})
	return &k
}

// keep appends those that fit.
func keep[T any](to *[]T, from []T, fits func(*T) bool) {
	for i := range from {
		if fits(&from[i]) {
			*to = append(*to, from[i])
		}
	}
}

// checkOrdersSoFar looks for a sequence of states of each order whose offer was answered, as checkOrders does, without the state at
// the end.
func checkOrdersSoFar(r *run, f *Finding) {
	made := make(map[string]bool)
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || !strings.HasPrefix(q.operation(), "order.") {
			continue
		}
		answer := new(orderAnswer)
		if json.Unmarshal(a.Body, answer) != nil || answer.Order.ID == "" {
			continue
		}
		r.orders[answer.Order.ID] = answer
		made[answer.Order.ID] = made[answer.Order.ID] || q.operation() == history.OrderCreate
	}
	orders := subjects(r)
	for _, id := range sorted(orders) {
		if !made[id] {
			continue
		}
		calls := orders[id].calls(f)
		for _, a := range orders[id].reads {
			answer, ok := new(orderAnswer), true
			if a.Succeeded() {
				*answer, ok = decode[orderAnswer](f, a)
			}
			if ok {
				calls = append(calls, readCall(orders[id].parties, a, answer, r.handles))
			}
		}
		f.Looked += len(calls)
		linearize(f, "order "+id, new(order), sameOrder, calls)
	}
}
