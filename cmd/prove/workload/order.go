package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// board is the orders that are known to the run.
type board struct {
	mu     sync.Mutex
	orders []*order
	index  map[string]int
}

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

// card holds the members of an order's answer that are read (§2.6).
type card struct {
	ID           string `json:"id"`
	State        string `json:"state"`
	Version      int64  `json:"version"`
	CustomerID   string `json:"customer_id"`
	ContractorID string `json:"contractor_id"`
	AuthorID     string `json:"author_id"`
	TotalMinor   int64  `json:"total_minor"`
}

// note remembers the newest version of an order, and returns it.
func (b *board) note(c card) *order {
	b.mu.Lock()
	i, known := b.index[c.ID]
	if !known {
		i = len(b.orders)
		b.index[c.ID] = i
		b.orders = append(b.orders, &order{id: c.ID, customer: c.CustomerID, contractor: c.ContractorID, author: c.AuthorID,
			totalMinor: c.TotalMinor})
	}
	o := b.orders[i]
	b.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.Version > o.version {
		o.state, o.version = c.State, c.Version
	}
	return o
}

// of returns the orders of an agent that have not ended.
func (b *board) of(agent string) []*order {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []*order
	for _, o := range b.orders {
		if o.customer != agent && o.contractor != agent {
			continue
		}
		if state, _ := o.seen(); len(moves[state]) > 0 {
			found = append(found, o)
		}
	}
	return found
}

func (a *Agent) noteOrder(got answer) {
	var made struct {
		Order card `json:"order"`
	}
	if json.Unmarshal(got.body, &made) == nil && made.Order.ID != "" {
		a.w.orders.note(made.Order)
	}
}

// offerOrder offers an order to a friend, as its customer or its contractor.
func (a *Agent) offerOrder(ctx context.Context) {
	if len(a.w.orders.of(a.ID)) > 4 {
		a.actOnOrder(ctx)
		return
	}
	got, final := a.repeat(ctx, a.offer(a.friend(), int64(1+a.random.IntN(5000)), a.random.IntN(2) == 0))
	if final && got.succeeded() {
		a.noteOrder(got)
	}
}

// deadline is one that does not pass during a run.
func deadline() string { return time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339) }

// offer is a request that offers an order to another agent, as its customer or its contractor.
func (a *Agent) offer(to *Agent, amount int64, asCustomer bool) request {
	id := uuid.NewString()
	body := map[string]any{
		"operation_id": id, "title": "Order " + id, "description": "Work for " + a.Handle, "amount_minor": amount,
		"deadline": deadline(),
	}
	if asCustomer {
		body["contractor_id"], body["confirmed_total_minor"] = to.ID, withFee(amount)
	} else {
		body["customer_id"] = to.ID
	}
	return request{operation: history.OrderCreate, id: id, method: http.MethodPost, path: "/orders", body: body, keep: true}
}

// feeBPS is the platform's fee of a new installation, in basis points.
const feeBPS = 1000

// moves are the operations that agents try in each state: those that §3.1 allows, and some that it does not.
var moves = map[string][]string{
	"offered":     {"accept", "accept", "accept", "accept", "accept", "accept", "reject", "cancel", "start"},
	"funded":      {"start", "start", "start", "start", "dispute", "propose-refund", "accept", "cancel"},
	"in_progress": {"deliver", "deliver", "deliver", "deliver", "dispute", "propose-refund", "complete"},
	"delivered":   {"complete", "complete", "complete", "complete", "dispute", "propose-refund", "deliver"},
	"disputed":    {"propose-refund", "approve-refund", "approve-refund", "approve-refund", "complete"},
}

// operations are all of them. One draw in strayOneOf is of these, whatever the state: what a state has no room for is refused.
var operations = []string{"accept", "reject", "cancel", "start", "deliver", "complete", "dispute", "propose-refund", "approve-refund"}

const strayOneOf = 6

// performers say who may do what (§3.1); what is missing either side may do.
var performers = map[string]func(o *order, agent string) bool{
	"accept": (*order).isCounterparty, "reject": (*order).isCounterparty, "cancel": (*order).isAuthor,
	"start": (*order).isContractor, "deliver": (*order).isContractor, "complete": (*order).isCustomer,
}

func (o *order) isAuthor(agent string) bool       { return agent == o.author }
func (o *order) isCounterparty(agent string) bool { return agent != o.author }
func (o *order) isCustomer(agent string) bool     { return agent == o.customer }
func (o *order) isContractor(agent string) bool   { return agent == o.contractor }

// draw returns an operation to try: mostly one that the agent may do.
func (a *Agent) draw(o *order, state string) string {
	if a.random.IntN(strayOneOf) == 0 {
		return operations[a.random.IntN(len(operations))]
	}
	for range 5 {
		operation := moves[state][a.random.IntN(len(moves[state]))]
		if may := performers[operation]; may == nil || may(o, a.ID) || a.random.IntN(8) == 0 {
			return operation
		}
	}
	return moves[state][0]
}

// actOnOrder tries an operation on one of the agent's orders, sometimes with a version that is out of date.
func (a *Agent) actOnOrder(ctx context.Context) {
	open := a.w.orders.of(a.ID)
	if len(open) == 0 {
		return
	}
	o := open[a.random.IntN(len(open))]
	state, version := o.seen()
	operation := a.draw(o, state)
	if version > 1 && a.random.IntN(12) == 0 {
		version--
	}
	got, final := a.repeat(ctx, a.move(o, operation, version))
	switch {
	case final && got.succeeded():
		a.noteOrder(got)
	case got.code == "version_conflict" || got.code == "state_conflict":
		a.read(ctx, o.id)
	}
}

// move is a request for an operation on an order.
func (a *Agent) move(o *order, operation string, version int64) request {
	id := uuid.NewString()
	body := map[string]any{"operation_id": id, "expected_version": version}
	switch operation {
	case "accept":
		if o.customer == a.ID {
			body["confirmed_total_minor"] = o.totalMinor
		}
	case "deliver":
		body["result_text"] = "The result of " + o.id
	case "dispute", "propose-refund":
		body["reason"] = "A reason of " + a.Handle
	}
	return request{operation: "order." + operation, id: id, subject: o.id, version: version,
		method: http.MethodPost, path: "/orders/" + o.id + "/" + operation, body: body, keep: true}
}

// readOrder reads one of the agent's orders, or has another agent try to.
func (a *Agent) readOrder(ctx context.Context) {
	open, reader := a.w.orders.of(a.ID), a
	if len(open) == 0 {
		return
	}
	if a.random.IntN(4) == 0 {
		reader = a.stranger() // mostly it has no part in the order
	}
	reader.read(ctx, open[a.random.IntN(len(open))].id)
}

func (a *Agent) read(ctx context.Context, id string) answer {
	got := a.once(ctx, request{operation: "order.get", subject: id, method: http.MethodGet, path: "/orders/" + id, keep: true})
	if got.succeeded() {
		a.noteOrder(got)
	}
	return got
}

// finalOrder reads an order after the run.
func (a *Agent) finalOrder(ctx context.Context, id string) (json.RawMessage, error) {
	got := a.read(ctx, id)
	if !got.succeeded() {
		return nil, fmt.Errorf("order %s: %d %s", id, got.status, got.body)
	}
	return got.body, nil
}
