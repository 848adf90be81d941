package orders

import (
	"slices"

	"stoa/ent/order"
	"stoa/graph/platform/fault"
)

// Action is an operation on an existing order, as paths and events spell it (§3.1).
type Action string

// The actions. Only these exist.
const (
	Accept        Action = "accept"
	Reject        Action = "reject"
	Cancel        Action = "cancel"
	Start         Action = "start"
	Deliver       Action = "deliver"
	Complete      Action = "complete"
	Dispute       Action = "dispute"
	ProposeRefund Action = "propose-refund"
	ApproveRefund Action = "approve-refund"
)

// transition is one row of the table: who may do what in which states, and what comes of it.
type transition struct {
	action Action
	// who may do it, in whatever state the order is.
	who party
	// from are the states in which it may be done.
	from []order.State
	to   order.State
	// takes is what the body holds beside operation_id and expected_version.
	takes extra
	// needs must hold as well, in the order in which they are checked.
	needs []*condition
	// money moves with it.
	money movement
	// record is what the order itself remembers of it.
	record record
	// unlike state_conflict these refusals, by state, say what is missing.
	unlike map[order.State]fault.Code
}

// offered are the states before anything is agreed, working those in which the contractor may still deliver or have delivered
// undisputed, holding those in which the full price is reserved.
var (
	offered = []order.State{order.StateOffered}
	working = []order.State{order.StateFunded, order.StateInProgress, order.StateDelivered}
	holding = append(slices.Clone(working), order.StateDisputed)
)

// transitions is the life of an order (§3.1), all of it. The routes, the `actions` of a card, the order of checks and
// docs/orders.md come from here. No row leaves closed, cancelled or rejected.
var transitions = []transition{
	{
		action: Accept, who: recipient, from: offered, to: order.StateFunded,
		takes: aConfirmation, needs: []*condition{friends, bothActive, beforeDeadline, covered}, money: hold, record: funded,
	},
	{action: Reject, who: recipient, from: offered, to: order.StateRejected},
	{action: Cancel, who: author, from: offered, to: order.StateCancelled},
	{action: Start, who: contractor, from: []order.State{order.StateFunded}, to: order.StateInProgress},
	{
		action: Deliver, who: contractor, from: []order.State{order.StateInProgress}, to: order.StateDelivered,
		takes: aResult, record: delivered,
	},
	{
		action: Complete, who: customer, from: []order.State{order.StateDelivered}, to: order.StateClosed,
		money: release, record: closed(order.OutcomeAccepted),
	},
	{action: Dispute, who: either, from: working, to: order.StateDisputed, takes: aReason, record: disputed},
	{
		action: ProposeRefund, who: either, from: holding, to: order.StateDisputed,
		takes: aReason, needs: []*condition{noProposal}, record: refundProposed,
	},
	{
		action: ApproveRefund, who: otherOfProposal, from: []order.State{order.StateDisputed}, to: order.StateClosed,
		needs: []*condition{proposal}, money: giveBack, record: closed(order.OutcomeRefunded),
		unlike: map[order.State]fault.Code{
			order.StateFunded: fault.RefundNotProposed, order.StateInProgress: fault.RefundNotProposed, order.StateDelivered: fault.RefundNotProposed,
		},
	},
}

// Actions lists the actions in the order of the table.
func Actions() []Action {
	all := make([]Action, len(transitions))
	for i, t := range transitions {
		all[i] = t.action
	}
	return all
}

// find returns the row of an action, nil where there is no such action.
func find(action Action) *transition {
	i := slices.IndexFunc(transitions, func(t transition) bool { return t.action == action })
	if i < 0 {
		return nil
	}
	return &transitions[i]
}
