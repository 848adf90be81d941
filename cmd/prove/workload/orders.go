package workload

import (
	"context"
	"sync"
	"time"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

// order is an order as its participants last saw it.
type order struct {
	id                   string
	customer, contractor string // ids
	author               string
	totalMinor           int64

	mu      sync.Mutex
	state   string
	version int64
}

func (o *order) seen() (state string, version int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state, o.version
}

// note remembers an answer's order if its version is the newest. It returns the order; nil if the answer has none.
func (w *Workload) note(got answer) *order {
	var made struct{ Order client.Order }
	if got.into(&made) != nil || made.Order.ID == "" {
		return nil
	}
	c := made.Order
	o := w.orders.findOrAdd(func(o *order) bool { return o.id == c.ID },
		&order{id: c.ID, customer: c.CustomerID, contractor: c.ContractorID, author: c.AuthorID, totalMinor: c.Total})
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.Version > o.version {
		o.state, o.version = c.State, c.Version
	}
	return o
}

// ordersIn returns the agent's orders whose last seen state fits.
func (a *Agent) ordersIn(fits func(state string) bool) []*order {
	return a.w.orders.list(func(o *order) bool {
		state, _ := o.seen()
		return (o.customer == a.ID || o.contractor == a.ID) && fits(state)
	})
}

// feeBPS is the platform's fee of a new installation, in basis points.
const feeBPS = 1000

func withFee(amount int64) int64 { return amount + (amount*feeBPS+5000)/10000 }

// deadline returns a deadline that does not pass during a run.
func deadline() string { return time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339) }

// offer is a request that offers an order to another agent, as its customer or its contractor.
func (a *Agent) offer(to *Agent, amount int64, asCustomer bool) request {
	body := members{"description": "Work for " + a.Handle, "amount_minor": amount, "deadline": deadline()}
	if asCustomer {
		body["contractor_id"], body["confirmed_total_minor"] = to.ID, withFee(amount)
	} else {
		body["customer_id"] = to.ID
	}
	r := keyed(history.OrderCreate, "", body)
	body["title"] = "Order " + r.id
	return r
}

// moves are the actions that agents try in each state: the allowed ones (§3.1), and some others.
var moves = map[string][]weighted[string]{
	"offered":     {{6, "accept"}, {1, "reject"}, {1, "cancel"}, {1, "start"}},
	"funded":      {{4, "start"}, {1, "dispute"}, {1, "propose-refund"}, {1, "accept"}, {1, "cancel"}},
	"in_progress": {{4, "deliver"}, {1, "dispute"}, {1, "propose-refund"}, {1, "complete"}},
	"delivered":   {{4, "complete"}, {1, "dispute"}, {1, "propose-refund"}, {1, "deliver"}},
	"disputed":    {{3, "approve-refund"}, {1, "propose-refund"}, {1, "complete"}},
}

// orderActions lists every action on an order. One attempt in strayOneOf ignores the order's state, so that refusals are tried too.
var orderActions = []string{"accept", "reject", "cancel", "start", "deliver", "complete", "dispute", "propose-refund", "approve-refund"}

const strayOneOf = 6

// may reports whether the agent is on the side that may perform an action (§3.1).
func (a *Agent) may(o *order, action string) bool {
	switch action {
	case "accept", "reject":
		return o.author != a.ID
	case "cancel":
		return o.author == a.ID
	case "start", "deliver":
		return o.contractor == a.ID
	case "complete":
		return o.customer == a.ID
	}
	return true
}

// try draws an action: mostly one that the agent may perform.
func (a *Agent) try(o *order, state string) string {
	if a.random.IntN(strayOneOf) == 0 {
		return one(a.random, orderActions)
	}
	for range 5 {
		if action := drawn(a.random, moves[state]); a.may(o, action) || a.random.IntN(8) == 0 {
			return action
		}
	}
	return moves[state][0].do
}

func isOpen(state string) bool { return len(moves[state]) > 0 }

// offerOrder offers an order to a friend, as its customer or its contractor.
func (a *Agent) offerOrder(ctx context.Context) {
	if len(a.ordersIn(isOpen)) > 4 {
		a.actOnOrder(ctx)
		return
	}
	got, _ := a.repeat(ctx, a.offer(a.friend(), int64(1+a.random.IntN(5000)), a.random.IntN(2) == 0))
	a.w.note(got)
}

// actOnOrder tries an action on one of the agent's orders, sometimes with a version that is out of date.
func (a *Agent) actOnOrder(ctx context.Context) {
	open := a.ordersIn(isOpen)
	if len(open) == 0 {
		return
	}
	o := one(a.random, open)
	state, version := o.seen()
	if !isOpen(state) {
		return // it has just closed
	}
	action := a.try(o, state)
	if version > 1 && a.random.IntN(12) == 0 {
		version--
	}
	got, _ := a.repeat(ctx, a.move(o, action, version))
	a.w.note(got)
	if got.Code == "version_conflict" || got.Code == "state_conflict" {
		a.read(ctx, o.id)
	}
}

func (a *Agent) move(o *order, action string, version int64) request {
	body := members{"expected_version": version}
	switch action {
	case "accept":
		if o.customer == a.ID {
			body["confirmed_total_minor"] = o.totalMinor
		}
	case "deliver":
		body["result_text"] = "The result of " + o.id
	case "dispute", "propose-refund":
		body["reason"] = "A reason of " + a.Handle
	}
	r := keyed("order."+action, o.id, body)
	r.version = version
	return r
}

// readOrder reads one of the agent's orders, or makes another agent try, which mostly does not take part in the order.
func (a *Agent) readOrder(ctx context.Context) {
	open, reader := a.ordersIn(isOpen), a
	if len(open) == 0 {
		return
	}
	if a.random.IntN(4) == 0 {
		reader = a.stranger()
	}
	reader.read(ctx, one(a.random, open).id)
}

func (a *Agent) read(ctx context.Context, id string) answer {
	got := a.once(ctx, request{operation: history.OrderGet, subject: id})
	a.w.note(got)
	return got
}

// rateOrder rates the other side of a closed order, or sometimes too early.
func (a *Agent) rateOrder(ctx context.Context) {
	wanted := "closed"
	if a.random.IntN(6) == 0 {
		wanted = "delivered"
	}
	if rated := a.ordersIn(func(state string) bool { return state == wanted }); len(rated) > 0 {
		a.repeat(ctx, a.rating(one(a.random, rated)))
	}
}

func (a *Agent) rating(o *order) request {
	return keyed(history.OrderRate, o.id, members{"stars": 2 + a.roll(4), "text": "As it was, says " + a.Handle})
}

// dealWithDrafts sends a draft as an order's contractor, or replies to the newest one as its customer.
func (a *Agent) dealWithDrafts(ctx context.Context) {
	working := a.ordersIn(func(state string) bool { return state == "in_progress" })
	if len(working) == 0 {
		return
	}
	o := one(a.random, working)
	if o.contractor == a.ID {
		a.repeat(ctx, keyed(history.DraftSend, o.id, members{"text": "A draft of " + a.Handle}))
	} else if draft := a.newestDraft(ctx, o); draft != "" {
		a.repeat(ctx, reply(o, draft))
	}
}

// newestDraft returns the newest draft of an order, or nothing.
func (a *Agent) newestDraft(ctx context.Context, o *order) string {
	var list struct{ Drafts []struct{ ID string } }
	if a.once(ctx, request{operation: history.DraftList, subject: o.id}).into(&list) != nil || len(list.Drafts) == 0 {
		return ""
	}
	return list.Drafts[0].ID
}

func reply(o *order, draft string) request {
	r := keyed(history.DraftReply, o.id, members{"verdict": "changes", "text": "More of it."})
	r.of = draft
	return r
}
