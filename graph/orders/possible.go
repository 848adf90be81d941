package orders

import (
	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
)

// Possible holds the next possible actions of the participants of an order, and whose turn it is.
type Possible struct {
	// Customer and Contractor are the actions of each, even if it is suspended. The conditions of a new obligation (a friendship,
	// credits, a deadline) are not checked.
	Customer, Contractor []Action
	// Turn is the participant whose action advances the order; nil if either can, or the order has ended.
	Turn *uuid.UUID
}

// PossibleActions returns the next possible actions on an order by the table of states. It does not check the caller.
func PossibleActions(o *ent.Order) Possible {
	r := &row{
		CustomerID: o.CustomerID, ContractorID: o.ContractorID, AuthorID: o.AuthorID, State: o.State, RefundProposedBy: o.RefundProposedBy,
	}
	var p Possible
	for i := range transitions {
		t := &transitions[i]
		if t.refuseState(r) != nil || !t.proposed(r) {
			continue
		}
		if t.who.is(r, r.CustomerID) {
			p.Customer = append(p.Customer, t.action)
		}
		if t.who.is(r, r.ContractorID) {
			p.Contractor = append(p.Contractor, t.action)
		}
	}
	p.Turn = r.turn()
	return p
}

// proposed reports whether the guards on a refund proposal hold.
func (t *transition) proposed(r *row) bool {
	for _, g := range t.needs {
		if (g == proposal || g == noProposal) && !g.holds(&snapshot{row: *r}) {
			return false
		}
	}
	return true
}

// turn returns the participant of the only action that does not lead to a dispute.
func (o *row) turn() *uuid.UUID {
	switch o.State {
	case order.StateOffered:
		if o.isAuthor(o.CustomerID) {
			return &o.ContractorID
		}
		return &o.CustomerID
	case order.StateFunded, order.StateInProgress:
		return &o.ContractorID
	case order.StateDelivered:
		return &o.CustomerID
	case order.StateDisputed:
		switch {
		case o.RefundProposedBy == nil:
			return nil
		case *o.RefundProposedBy == o.CustomerID:
			return &o.ContractorID
		default:
			return &o.CustomerID
		}
	default:
		return nil
	}
}

// Ends reports whether an action ends an order.
func (a Action) Ends() bool {
	t := find(a)
	return t != nil && (t.to == order.StateClosed || t.to == order.StateCancelled || t.to == order.StateRejected)
}
