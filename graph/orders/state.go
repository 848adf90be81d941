package orders

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/wallet"
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

// transition is one row of the state table: an action, who may take it in which states, and its effects.
type transition struct {
	action Action
	// who may take the action, in any state.
	who party
	// from are the states in which the action is possible.
	from []order.State
	to   order.State
	// takes is the content of the body besides operation_id and expected_version.
	takes payload
	// needs are the guards, in the order in which they are checked.
	needs []*guard
	// money is the posting of the action.
	money posting
	// apply sets the fields that the step changes, besides state and version.
	apply func(o *row, s step)
	// stateFaults maps states to the code of the refusal, if it is not state_conflict.
	stateFaults map[order.State]fault.Code
}

// offered lists the states before an agreement, working the undisputed states after it, holding the states in which the full
// price is reserved.
var (
	offered = []order.State{order.StateOffered}
	working = []order.State{order.StateFunded, order.StateInProgress, order.StateDelivered}
	holding = append(slices.Clone(working), order.StateDisputed)
)

// transitions lists every change of an order's state (§3.1). The routes, the `actions` of a card, the order of checks and
// docs/orders.md come from it. No row leaves closed, cancelled or rejected. The postings move the price between the customer's
// available and reserved credits and the contractor's wallet; the check accounts_available_not_negative of the database refuses a
// posting that is not covered (wallet.Refusal). The guard covered decides only whether a card lists the action.
var transitions = []transition{
	{
		action: Accept, who: recipient, from: offered, to: order.StateFunded,
		takes: confirmationPayload, needs: []*guard{friends, bothActive, beforeDeadline, covered}, money: hold, apply: setFunded,
	},
	{action: Reject, who: recipient, from: offered, to: order.StateRejected},
	{action: Cancel, who: author, from: offered, to: order.StateCancelled},
	{action: Start, who: contractor, from: []order.State{order.StateFunded}, to: order.StateInProgress},
	{
		action: Deliver, who: contractor, from: []order.State{order.StateInProgress}, to: order.StateDelivered,
		takes: resultPayload, apply: setDelivered,
	},
	{
		action: Complete, who: customer, from: []order.State{order.StateDelivered}, to: order.StateClosed,
		money: release, apply: setClosed(order.OutcomeAccepted),
	},
	{action: Dispute, who: either, from: working, to: order.StateDisputed, takes: reasonPayload, apply: setDisputed},
	{
		action: ProposeRefund, who: either, from: holding, to: order.StateDisputed,
		takes: reasonPayload, needs: []*guard{noProposal}, apply: setRefundProposed,
	},
	{
		action: ApproveRefund, who: otherOfProposal, from: []order.State{order.StateDisputed}, to: order.StateClosed,
		needs: []*guard{proposal}, money: refund, apply: setClosed(order.OutcomeRefunded),
		stateFaults: map[order.State]fault.Code{
			order.StateFunded: fault.RefundNotProposed, order.StateInProgress: fault.RefundNotProposed,
			order.StateDelivered: fault.RefundNotProposed,
		},
	},
}

// party defines who may take an action, and which 403 the other participant receives.
type party struct {
	name    string
	is      func(o *row, caller uuid.UUID) bool
	refusal fault.Code
}

// The parties of the table.
var (
	author     = party{"author of the offer", (*row).isAuthor, fault.Forbidden}
	recipient  = party{"recipient of the offer", (*row).isRecipient, fault.CounterpartyRequired}
	customer   = party{"customer", func(o *row, caller uuid.UUID) bool { return o.CustomerID == caller }, fault.Forbidden}
	contractor = party{"contractor", func(o *row, caller uuid.UUID) bool { return o.ContractorID == caller }, fault.Forbidden}
	either     = party{"either participant", func(*row, uuid.UUID) bool { return true }, fault.Forbidden}
	// While no refund is proposed, either participant matches, so that the guard reports the missing proposal.
	otherOfProposal = party{"other party of the proposal", func(o *row, caller uuid.UUID) bool {
		return o.RefundProposedBy == nil || *o.RefundProposedBy != caller
	}, fault.CounterpartyRequired}
)

func (o *row) isAuthor(caller uuid.UUID) bool { return o.AuthorID == caller }

func (o *row) isRecipient(caller uuid.UUID) bool { return o.AuthorID != caller }

// guard is a condition besides role and state.
type guard struct {
	name    string
	holds   func(s *snapshot) bool
	refusal fault.Code
}

// The guards of the table.
var (
	friends = &guard{
		name: "accepted friendship", refusal: fault.FriendshipRequired,
		holds: func(s *snapshot) bool { return s.Friends },
	}
	bothActive = &guard{
		name: "both active", refusal: fault.ParticipantInactive,
		holds: func(s *snapshot) bool { return s.Active },
	}
	beforeDeadline = &guard{
		name: "deadline not passed", refusal: fault.DeadlinePassed,
		holds: func(s *snapshot) bool { return s.Deadline.After(s.Now) },
	}
	covered = &guard{
		name: "customer has the total available", refusal: fault.InsufficientFunds,
		holds: func(s *snapshot) bool { return s.Covered },
	}
	proposal = &guard{
		name: "a refund is proposed", refusal: fault.RefundNotProposed,
		holds: func(s *snapshot) bool { return s.RefundProposedBy != nil },
	}
	noProposal = &guard{
		name: "no refund is proposed yet", refusal: fault.RefundProposalExists,
		holds: func(s *snapshot) bool { return s.RefundProposedBy == nil },
	}
)

// posting moves the order's money; the zero value moves nothing.
type posting struct {
	kind        wallet.Kind
	transaction func(wallet.Escrow) wallet.Transaction
}

// The postings of the table.
var (
	hold    = posting{wallet.Reserve, wallet.Hold}
	release = posting{wallet.Payment, wallet.Release}
	refund  = posting{wallet.Refund, wallet.Return}
)

// step is one row of the order's history.
type step struct {
	// action is an Action, or `create` or `select` for the first step.
	action string
	by     uuid.UUID
	at     time.Time
	// confirmedTotal, resultText and reason are the values of the action's body.
	confirmedTotal *int64
	resultText     *string
	reason         *string
}

// setFunded sets the time of the reservation, and the total if the customer has just confirmed it.
func setFunded(o *row, s step) {
	o.FundedAt = &s.at
	if s.by == o.CustomerID {
		o.ConfirmedTotalMinor = s.confirmedTotal
	}
}

func setDelivered(o *row, s step) {
	o.ResultText, o.DeliveredAt = s.resultText, &s.at
}

func setDisputed(o *row, s step) {
	o.DisputedBy, o.DisputeReason, o.DisputedAt = &s.by, s.reason, &s.at
}

func setRefundProposed(o *row, s step) {
	o.RefundProposedBy, o.RefundReason, o.RefundProposedAt = &s.by, s.reason, &s.at
}

func setClosed(outcome order.Outcome) func(o *row, s step) {
	return func(o *row, s step) { o.Outcome, o.ClosedAt = new(string(outcome)), &s.at }
}

// Actions lists the actions in the order of the table.
func Actions() []Action { return page.Map(transitions, func(t transition) Action { return t.action }) }

// find returns the row of an action, nil if there is no such action.
func find(action Action) *transition {
	i := slices.IndexFunc(transitions, func(t transition) bool { return t.action == action })
	if i < 0 {
		return nil
	}
	return &transitions[i]
}

// refuseRole refuses a caller that may not take the action. It is checked before version and state.
func (t *transition) refuseRole(o *row, caller uuid.UUID) error {
	if !t.who.is(o, caller) {
		return fault.New(t.who.refusal).Say("Only the " + t.who.name + " may " + string(t.action) + ".")
	}
	return nil
}

func (t *transition) refuseState(o *row) error {
	if slices.Contains(t.from, o.state()) {
		return nil
	}
	if code, ok := t.stateFaults[o.state()]; ok {
		return fault.New(code)
	}
	return fault.New(fault.StateConflict).Say(fmt.Sprintf("The order is %s; %s is for one that is %s.", o.State, t.action, list(t.from, " or ")))
}

// list joins states.
func list(states []order.State, by string) string {
	return strings.Join(page.Map(states, func(state order.State) string { return string(state) }), by)
}

// refuseNeeds checks the guards.
func (t *transition) refuseNeeds(s *snapshot) error {
	for _, g := range t.needs {
		if !g.holds(s) {
			return fault.New(g.refusal)
		}
	}
	return nil
}

// obliges reports whether the action takes on a new obligation, whose conditions others may change concurrently.
func (t *transition) obliges() bool { return slices.Contains(t.needs, friends) }

// permits reports whether none of refuseRole, refuseState and refuseNeeds would refuse the caller. It builds no faults, because a
// card calls it for each action.
func (t *transition) permits(s *snapshot, caller uuid.UUID) bool {
	return t.who.is(&s.row, caller) && slices.Contains(t.from, s.state()) &&
		!slices.ContainsFunc(t.needs, func(g *guard) bool { return !g.holds(s) })
}
