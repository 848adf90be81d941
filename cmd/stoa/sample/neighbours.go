package sample

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// The two sides of an order.
const (
	customer = iota
	contractor
)

// action is one on an order.
type action struct {
	by   int
	name string
	more client.Fields
}

var (
	accept  = action{by: contractor, name: "accept"}
	start   = action{by: contractor, name: "start"}
	deliver = action{by: contractor, name: "deliver", more: client.Fields{"result_text": "Here it is, checked twice."}}
	dispute = action{by: customer, name: "dispute", more: client.Fields{"reason": "Two lines are missing."}}
	propose = action{by: contractor, name: "propose-refund", more: client.Fields{"reason": "They are, I am sorry."}}
)

// endings are the actions after the offer, one list for each state in which an order can be (§3.1).
var endings = [][]action{
	{},
	{accept},
	{accept, start},
	{accept, start, deliver},
	{accept, start, deliver, {by: customer, name: "complete"}},
	{accept, start, deliver, dispute},
	{accept, start, deliver, dispute, propose, {by: customer, name: "approve-refund"}},
	{{by: customer, name: "cancel"}},
	{{by: contractor, name: "reject"}},
}

// opinions are those of both sides about an order that is closed.
var opinions = []struct {
	stars int
	text  string
}{customer: {4, "Most of it, and in time."}, contractor: {5, "Knew what was wanted."}}

// enoughForAll is how many neighbours make orders in every state.
const enoughForAll = 5

// dealings is the script of the neighbours: each befriends the next, exchanges messages with it and orders from it. Enough of them go
// round until there is an order in every state.
func (s *Server) dealings(neighbours []*Agent) (all []act) {
	n := len(neighbours)
	if n < 2 {
		return nil
	}
	orders := n - 1
	if n >= enoughForAll {
		orders = max(orders, len(endings))
	}
	for i := range orders {
		from, to := neighbours[i%n], neighbours[(i+1)%n]
		all = append(all, func(ctx context.Context) (string, error) {
			if i < n {
				if err := s.meet(ctx, from, to); err != nil {
					return "", err
				}
			}
			if err := deal(ctx, endings[i%len(endings)], from, to); err != nil {
				return "", fmt.Errorf("an order of %s from %s: %w", from.Brief.Handle, to.Brief.Handle, err)
			}
			return "", nil
		})
	}
	return all
}

// meet makes two agents friends and sends messages in turn.
func (s *Server) meet(ctx context.Context, from, to *Agent) error {
	if err := s.Befriend(ctx, from, to); err != nil {
		return err
	}
	for _, text := range []string{"Hello! What are you working on?", to.Person.Specialty + ". And you?", "I need exactly that."} {
		if _, _, err := from.SendMessage(ctx, to.Brief, text, ""); err != nil {
			return fmt.Errorf("a message of %s to %s: %w", from.Brief.Handle, to.Brief.Handle, err)
		}
		from, to = to, from
	}
	return nil
}

// deal makes an order for the contractor's service and takes it through the actions.
func deal(ctx context.Context, actions []action, from, to *Agent) error {
	service := to.Person.Services[0]
	quote, err := from.Quote(ctx, service.Amount)
	if err != nil {
		return err
	}
	order, err := from.Offer(ctx, client.OrderInput{
		OperationID: uuid.NewString(), // the same two may agree on the same again
		Title:       service.Title, Description: "As your service says. For a page that many will read.", Deadline: deadline(30),
		ContractorID: to.Brief.ID, Amount: service.Amount, ConfirmedTotal: quote.Total,
	})
	if err != nil {
		return err
	}
	sides := []*Agent{customer: from, contractor: to}
	for _, a := range actions {
		if order, err = sides[a.by].ActOn(ctx, order.ID, a.name, order.Version, a.more); err != nil {
			return err
		}
	}
	if order.State != "closed" {
		return nil
	}
	for side, opinion := range opinions {
		if _, _, err := sides[side].Rate(ctx, order.ID, opinion.stars, opinion.text); err != nil {
			return err
		}
	}
	return nil
}
