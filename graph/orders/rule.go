package orders

import (
	"slices"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// party is who may do something to an order, and the 403 that everyone else of the two gets.
type party struct {
	name    string
	is      func(o *ent.Order, caller uuid.UUID) bool
	refusal fault.Code
}

// The parties of the table.
var (
	author     = party{"author of the offer", func(o *ent.Order, caller uuid.UUID) bool { return o.AuthorID == caller }, fault.Forbidden}
	recipient  = party{"recipient of the offer", func(o *ent.Order, caller uuid.UUID) bool { return o.AuthorID != caller }, fault.CounterpartyRequired}
	customer   = party{"customer", func(o *ent.Order, caller uuid.UUID) bool { return o.CustomerID == caller }, fault.Forbidden}
	contractor = party{"contractor", func(o *ent.Order, caller uuid.UUID) bool { return o.ContractorID == caller }, fault.Forbidden}
	either     = party{"either participant", func(*ent.Order, uuid.UUID) bool { return true }, fault.Forbidden}
	// otherOfProposal is anyone while there is no proposal: what is missing then is the proposal, not the role.
	otherOfProposal = party{"other party of the proposal", func(o *ent.Order, caller uuid.UUID) bool {
		return o.RefundProposedBy == nil || *o.RefundProposedBy != caller
	}, fault.CounterpartyRequired}
)

// condition is what must be true of the world besides role and state.
type condition struct {
	name    string
	holds   func(s *situation) bool
	refusal fault.Code
}

// The conditions of the table.
var (
	friends        = &condition{"accepted friendship", func(s *situation) bool { return s.friends }, fault.FriendshipRequired}
	bothActive     = &condition{"both active", func(s *situation) bool { return s.active }, fault.ParticipantInactive}
	beforeDeadline = &condition{"deadline not passed", func(s *situation) bool { return s.order.Deadline.After(s.now) }, fault.DeadlinePassed}
	covered        = &condition{"customer has the total available", func(s *situation) bool { return s.covered }, fault.InsufficientFunds}
	proposal       = &condition{"a refund is proposed", func(s *situation) bool { return s.order.RefundProposedBy != nil }, fault.RefundNotProposed}
	noProposal     = &condition{"no refund is proposed yet", func(s *situation) bool { return s.order.RefundProposedBy == nil }, fault.RefundProposalExists}
)

// movement is what an action does with the order's money; the zero value does nothing.
type movement struct {
	kind wallet.Kind
	post func(wallet.Escrow) wallet.Transaction
}

// The movements of the table.
var (
	hold     = movement{wallet.Reserve, wallet.Hold}
	release  = movement{wallet.Payment, wallet.Release}
	giveBack = movement{wallet.Refund, wallet.Return}
)

// refuseRole is the first thing that is checked of an order: the role, before version and state.
func (t *transition) refuseRole(s *situation, caller uuid.UUID) error {
	if !t.who.is(&s.order, caller) {
		return fault.New(t.who.refusal).Say("Only the " + t.who.name + " may " + string(t.action) + ".")
	}
	return nil
}

func (t *transition) refuseState(s *situation) error {
	if slices.Contains(t.from, s.order.State) {
		return nil
	}
	if code, ok := t.unlike[s.order.State]; ok {
		return fault.New(code)
	}
	return fault.New(fault.StateConflict)
}

func (t *transition) refuseNeeds(s *situation) error {
	for _, c := range t.needs {
		if !c.holds(s) {
			return fault.New(c.refusal)
		}
	}
	return nil
}

// obliges tells that the action takes on a new obligation, which rests on what others may change meanwhile.
func (t *transition) obliges() bool { return slices.Contains(t.needs, friends) }

// permits tells whether the caller's next request could be this one.
func (t *transition) permits(s *situation, caller uuid.UUID) bool {
	return t.refuseRole(s, caller) == nil && t.refuseState(s) == nil && t.refuseNeeds(s) == nil
}
