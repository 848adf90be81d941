package demo

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// orderEvent is the payload of order.changed.
type orderEvent struct {
	OrderID string `json:"order_id"`
	Status  string `json:"status"`
	Version int64  `json:"version"`
}

// commission is an order whose every step is looked at.
type commission struct {
	*story
	place.Order

	customer, contractor *place.Actor
	// before are the wallets when the order was offered.
	before, theirs client.Wallet
	quote          client.Quote
}

// makePage has Noor order the four voices: the picture step by step, the others in short.
func (s *story) makePage(ctx context.Context) error {
	noor := s.Actor("noor")
	before, err := noor.Wallet(ctx)
	if err != nil {
		return err
	}
	spent := int64(0)
	for i, moment := range s.moments {
		if moment.Order == nil {
			continue
		}
		o := *moment.Order
		if i == 0 {
			err = s.commission(ctx, o)
		} else {
			err = s.tellShort(ctx, o)
		}
		if err != nil {
			return err
		}
		quote, err := noor.Quote(ctx, o.Amount)
		if err != nil {
			return err
		}
		spent += quote.Total
	}
	if err := holds(ctx, noor, before.Available-spent, 0); err != nil {
		return err
	}
	return s.checkLedger(ctx, noor, before.Available-spent)
}

// checkLedger requires the lines of an agent's available account to come to its balance.
func (s *story) checkLedger(ctx context.Context, a *place.Actor, balance int64) error {
	sum, lines := int64(0), 0
	for entry, err := range a.Entries(ctx) {
		if err != nil {
			return err
		}
		lines++
		if entry.Account == "available" {
			sum += entry.Delta
		}
	}
	if err := same("the sum of the lines", sum, balance); err != nil {
		return err
	}
	s.stepf("%s's ledger has %d lines, which come to what is in the wallet: %s.", a.Person.DisplayName, lines, credits(balance))
	return nil
}

// commission carries out an order and looks at every step of it.
func (s *story) commission(ctx context.Context, o place.Order) error {
	c := &commission{story: s, Order: o, customer: s.Actor(o.Customer), contractor: s.Actor(o.Contractor)}
	err := errors.Join(s.connect(ctx, c.customer, true), s.connect(ctx, c.contractor, true))
	if err != nil {
		return err
	}
	if c.before, err = c.customer.Wallet(ctx); err != nil {
		return err
	}
	if c.theirs, err = c.contractor.Wallet(ctx); err != nil {
		return err
	}
	if c.quote, err = c.customer.Quote(ctx, o.Amount); err != nil {
		return err
	}
	s.stepf("Noor asks for a quote: %s for Pia and a fee of %s make %s.", credits(o.Amount), credits(c.quote.Fee), credits(c.quote.Total))
	if err := s.Trade(ctx, o, func(step place.Step) error { return c.look(ctx, step) }); err != nil {
		return err
	}
	s.disconnect()
	return nil
}

// scenes say what each step of the commission comes to: the state, the customer's reserve as a share of the total, and whether the
// contractor has been paid.
var scenes = map[string]struct {
	state    string
	version  int64
	reserved bool
	paid     bool
	text     string
}{
	"offer":    {"offered", 1, false, false, "Noor offers Pia the order; both sockets say order.changed, and no credit has moved yet."},
	"accept":   {"funded", 2, true, false, "Pia accepts; the full price is now reserved in Noor's wallet."},
	"start":    {"in_progress", 3, true, false, "Pia starts."},
	"deliver":  {"delivered", 4, true, false, "Pia delivers light.png; she is not paid for that alone."},
	"complete": {"closed", 5, false, true, "Noor accepts the work; Pia is paid out of the reserve."},
}

// look compares the server with what must hold after a step.
func (c *commission) look(ctx context.Context, step place.Step) error {
	if step.Name == "rate" {
		return c.lookAtRating(ctx, step)
	}
	scene := scenes[step.Name]
	if err := errors.Join(same("state", step.Order.State, scene.state), same("version", step.Order.Version, scene.version)); err != nil {
		return err
	}
	for _, who := range []*place.Actor{c.customer, c.contractor} {
		var event orderEvent
		if err := c.take(ctx, who, "order.changed", &event); err != nil {
			return err
		}
		if err := same(who.Person.DisplayName+"'s event", event, orderEvent{step.Order.ID, scene.state, scene.version}); err != nil {
			return err
		}
	}
	again, err := step.Again(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(same("Idempotent-Replayed", again.Replayed, true),
		same("version after a repeat of "+step.Name, again.Version, scene.version)); err != nil {
		return err
	}
	available, reserved, theirs := c.before.Available, int64(0), c.theirs.Available
	if scene.reserved || scene.paid {
		available -= c.quote.Total
	}
	if scene.reserved {
		reserved = c.quote.Total
	}
	if scene.paid {
		theirs += c.Amount
	}
	if err := errors.Join(holds(ctx, c.customer, available, reserved), holds(ctx, c.contractor, theirs, 0)); err != nil {
		return err
	}
	c.stepf("%s Noor: %s and %s reserved. Pia: %s.", scene.text, credits(available), credits(reserved), credits(theirs))
	switch step.Name {
	case "start":
		return c.draft(ctx, step.Order)
	case "complete":
		return c.lookBack(ctx, step.Order)
	}
	return nil
}

// draft shows work before its delivery (§2.11).
func (c *commission) draft(ctx context.Context, order client.Order) error {
	const sketch, answer = "Draft 1: nine rays to the left, the tower dark on the other side. The sky on the right is still empty.",
		"Leave it empty. The rays thinner at their ends, please."
	shown, _, err := c.contractor.SendDraft(ctx, order.ID, client.Fields{"text": sketch})
	if err != nil {
		return err
	}
	replied, _, err := c.customer.ReplyToDraft(ctx, order.ID, shown.ID, "changes", answer)
	if err != nil {
		return err
	}
	if err := same("the verdict", replied.Reply.Verdict, "changes"); err != nil {
		return err
	}
	c.stepf("Pia shows a draft; Noor answers: “%s”", answer)
	return nil
}

// lookBack looks at the history and at what can no longer be done.
func (c *commission) lookBack(ctx context.Context, order client.Order) error {
	var found struct {
		Order  client.Order `json:"order"`
		Events []struct {
			Action string `json:"action"`
		} `json:"events"`
	}
	if err := c.contractor.Do(ctx, http.MethodGet, "/orders/"+order.ID, nil, &found); err != nil {
		return err
	}
	actions := make([]string, 0, len(found.Events))
	for _, event := range found.Events {
		actions = append(actions, event.Action)
	}
	history := strings.Join(actions, ", ")
	if err := same("history", history, "create, accept, start, deliver, complete"); err != nil {
		return err
	}
	if found.Order.Outcome == nil || *found.Order.Outcome != "accepted" {
		return errors.New("the closed order's outcome is not accepted")
	}
	c.stepf("The order's history reads: %s; its outcome: accepted.", history)

	_, err := c.customer.ActOn(ctx, order.ID, "cancel", 1, nil)
	if err := refused("an action on an old version", err, http.StatusConflict, "version_conflict"); err != nil {
		return err
	}
	c.stepf("Noor tries to cancel the version 1 that she remembers, and learns that the order has moved on.")
	return nil
}

// lookAtRating looks at the reputation after a rating (§2.10).
func (c *commission) lookAtRating(ctx context.Context, step place.Step) error {
	by, of := c.customer, c.contractor
	if step.Rating.Author == of.Person.Handle {
		by, of = of, by
	}
	_, replayed, err := by.Rate(ctx, step.Order.ID, step.Rating.Stars, step.Rating.Text)
	if err != nil {
		return err
	}
	if err := same("Idempotent-Replayed of a rating", replayed, true); err != nil {
		return err
	}
	_, _, err = by.Rate(ctx, step.Order.ID, step.Rating.Stars, "Once more.")
	if err := refused("a second rating", err, http.StatusConflict, "state_conflict"); err != nil {
		return err
	}
	card, err := by.Bot(ctx, of.Brief.ID)
	if err != nil {
		return err
	}
	if card.Reputation == nil || card.Reputation.Average == nil || card.Reputation.Counterparties == 0 {
		return errors.New(of.Person.DisplayName + " has no average")
	}
	c.stepf("%s gives %s %d of 5 stars, once; the card of %s says %.1f from %d.", by.Person.DisplayName, of.Person.DisplayName,
		step.Rating.Stars, of.Person.DisplayName, *card.Reputation.Average, card.Reputation.Counterparties)
	return nil
}
