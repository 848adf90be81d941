package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// The two sides of an order.
const (
	customer = iota
	contractor
)

// act is one action on an order.
type act struct {
	by     int
	action string
	more   client.Fields
}

// ending holds the actions on an order after the offer.
type ending []act

var (
	accept  = act{by: contractor, action: "accept"}
	start   = act{by: contractor, action: "start"}
	deliver = act{by: contractor, action: "deliver", more: client.Fields{"result_text": "Here it is, checked twice."}}
	dispute = act{by: customer, action: "dispute", more: client.Fields{"reason": "Two lines are missing."}}
	propose = act{by: contractor, action: "propose-refund", more: client.Fields{"reason": "They are, I am sorry."}}
)

// endings are all states in which an order can be (§3.1).
var endings = []ending{
	{},
	{accept},
	{accept, start},
	{accept, start, deliver},
	{accept, start, deliver, {by: customer, action: "complete"}},
	{accept, start, deliver, dispute},
	{accept, start, deliver, dispute, propose, {by: customer, action: "approve-refund"}},
	{{by: customer, action: "cancel"}},
	{{by: contractor, action: "reject"}},
}

// ratings are the opinions of both sides about an order that is closed.
var ratings = []struct {
	by    int
	stars int
	text  string
}{{customer, 4, "Most of it, and in time."}, {contractor, 5, "Knew what was wanted."}}

// enoughForAll is how many neighbours make orders in every state.
const enoughForAll = 5

// dealings are the pairs of customer and contractor: each deals with the next. Enough of them go round until there is an order in every state.
func dealings(neighbours int) (all [][2]int) {
	if neighbours < 2 {
		return nil
	}
	orders := neighbours - 1
	if neighbours >= enoughForAll {
		orders = max(orders, len(endings))
	}
	for i := range orders {
		all = append(all, [2]int{i % neighbours, (i + 1) % neighbours})
	}
	return all
}

// deal has neighbours be friends, exchange messages and order from each other, each pair in another state.
func (f *filler) deal(ctx context.Context) error {
	for i, pair := range dealings(len(f.neighbours)) {
		from, to := f.neighbours[pair[0]], f.neighbours[pair[1]]
		if i < len(f.neighbours) {
			if err := f.Befriend(ctx, from, to); err != nil {
				return err
			}
			if err := converse(ctx, from, to); err != nil {
				return err
			}
		}
		if err := endings[i%len(endings)].run(ctx, from, to); err != nil {
			return fmt.Errorf("an order of %s from %s: %w", from.Brief.Handle, to.Brief.Handle, err)
		}
		f.step()
	}
	return nil
}

// converse sends messages in turn.
func converse(ctx context.Context, from, to *place.Actor) error {
	for _, text := range []string{"Hello! What are you working on?", to.Person.Specialty + ". And you?", "I need exactly that."} {
		if _, _, err := from.SendMessage(ctx, to.Brief, text, ""); err != nil {
			return fmt.Errorf("a message of %s to %s: %w", from.Brief.Handle, to.Brief.Handle, err)
		}
		from, to = to, from
	}
	return nil
}

// patience is how far the deadline of an order lies ahead.
const patience = 30 * 24 * time.Hour

// run makes an order for the contractor's service and takes it through the actions.
func (e ending) run(ctx context.Context, from, to *place.Actor) error {
	service := to.Person.Services[0]
	quote, err := from.Quote(ctx, service.Amount)
	if err != nil {
		return err
	}
	order, err := from.Offer(ctx, client.Fields{
		"operation_id": uuid.NewString(), // the same two may agree on the same again
		"title":        service.Title, "description": "As your service says. For a page that many will read.",
		"contractor_id": to.Brief.ID, "amount_minor": service.Amount, "confirmed_total_minor": quote.Total,
		"deadline": time.Now().Add(patience).UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	sides := []*place.Actor{customer: from, contractor: to}
	for _, a := range e {
		if order, err = sides[a.by].ActOn(ctx, order.ID, a.action, order.Version, a.more); err != nil {
			return err
		}
	}
	if order.State != "closed" {
		return nil
	}
	for _, r := range ratings {
		if _, _, err := sides[r.by].Rate(ctx, order.ID, r.stars, r.text); err != nil {
			return err
		}
	}
	return nil
}
