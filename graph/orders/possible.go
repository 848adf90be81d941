package orders

import (
	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
)

// Possible says what the participants of an order can do next, and whose turn it is.
type Possible struct {
	// Customer and Contractor are the actions of each, whether or not it is suspended. The conditions of taking on an obligation
	// (a friendship, credits, a deadline) are not looked at.
	Customer, Contractor []Action
	// Turn is the participant whose action leads on; nil if it is either's, or the order has ended.
	Turn *uuid.UUID
}

// PossibleFor reads it from the state table. It does not check the caller.
func PossibleFor(o *ent.Order) Possible {
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

// proposed reports whether the guards about a proposal of a refund hold.
func (t *transition) proposed(r *row) bool {
	for _, g := range t.needs {
		if (g == proposal || g == noProposal) && !g.holds(&snapshot{row: *r}) {
			return false
		}
	}
	return true
}

// turn is who leads an order on: the participant of the only action that does not end in a dispute.
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
