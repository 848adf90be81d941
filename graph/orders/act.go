package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

// OrderAct applies an action to an order, by the row of the action in the table of state.go (§3.1, §4.7). Only one of the two
// participants may call it. The order of checks: the form of the fields (not_found for an unknown action, invalid_id,
// invalid_input), the stored result of an identical request or idempotency_conflict, not_found, the role (forbidden,
// counterparty_required), version_conflict, state_conflict or refund_not_proposed, immutable_attachments, invalid_input for the
// customer's missing confirmation, the action's guards (friendship_required, participant_inactive, deadline_passed,
// refund_proposal_exists), price_changed, the files (invalid_attachment, attachment_already_bound), and the money
// (insufficient_funds, ledger_conflict).
func (a *API) OrderAct(ctx context.Context, in ActInput) (*OrderResult, error) {
	v, c, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	op, err := once.NewRequest(v.BotID, c.operationID, string(c.action), c.orderID, in)
	if err != nil {
		return nil, err
	}
	run := once.Attempt[OrderResult]
	if len(c.results) > 0 { // a separate statement binds files
		run = once.Do[OrderResult]
	}
	return run(ctx, a.DB, named("lock_order"), []any{c.orderID, v.BotID, c.obliges()}, func(ctx context.Context, tx *db.Tx) (*OrderResult, error) {
		return a.decideAct(ctx, tx, c, op)
	})
}

// decideAct reads the snapshot of an action, decides, and writes.
func (a *API) decideAct(ctx context.Context, tx *db.Tx, c command, op once.Request) (*OrderResult, error) {
	read, err := db.One[struct {
		once.Stored
		snapshot
	}](ctx, tx.SQL, named("select_for_act"), c.orderID, op.Agent, op.ID)
	if errors.Is(err, sql.ErrNoRows) {
		if made, stored := stored(ctx, tx.SQL, op); made != nil || stored != nil {
			return made, stored
		}
	}
	if err != nil {
		return nil, err
	}
	if made, err := once.Repeated[OrderResult](op, read.Stored); made != nil || err != nil {
		return made, err
	}
	s := &read.snapshot
	// The ledger decides whether the customer can pay. Times in the history of an order never decrease.
	s.Covered = true
	if s.UpdatedAt.After(s.Now) {
		s.Now = s.UpdatedAt
	}
	if err := c.refuse(s, op); err != nil {
		return nil, err
	}
	if err := s.bindFiles(ctx, tx, op.Agent, s.resultsTarget(), c.results); err != nil {
		return nil, err
	}
	next := step{
		action: string(c.action), by: op.Agent, at: s.Now,
		confirmedTotal: c.confirmedTotal, resultText: c.resultText, reason: c.reason,
	}
	s.State, s.UpdatedAt = string(c.to), s.Now
	s.Version++
	if c.apply != nil {
		c.apply(&s.row, next)
	}
	return a.commit(ctx, tx, named("step_order"), c.obliges(), s, next, op, c.money)
}

// refuse runs the checks of §3.1 in their order, up to the money.
func (c command) refuse(s *snapshot, op once.Request) error {
	if err := c.refuseRole(&s.row, op.Agent); err != nil {
		return err
	}
	if c.expectedVersion != int64(s.Version) {
		return fault.New(fault.VersionConflict).Say(fmt.Sprintf("The order has version %d and is %s. Read it, and decide anew.", s.Version, s.State))
	}
	if err := c.refuseState(&s.row); err != nil {
		return err
	}
	if c.fixed {
		return fault.New(fault.ImmutableAttachments)
	}
	if c.takes == confirmationPayload && op.Agent == s.CustomerID && c.confirmedTotal == nil {
		return fault.Field(fault.InvalidInput, "confirmed_total_minor",
			fmt.Sprintf("is required: you are the customer and pay %d", s.TotalMinor))
	}
	if err := c.refuseNeeds(s); err != nil {
		return err
	}
	if c.confirmedTotal != nil && *c.confirmedTotal != s.TotalMinor {
		return PriceChanged(s.TotalMinor)
	}
	return nil
}

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
	r := &row{RefundProposedBy: o.RefundProposedBy, Card: Card{
		CustomerID: o.CustomerID, ContractorID: o.ContractorID, AuthorID: o.AuthorID, State: string(o.State),
	}}
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
	switch o.state() {
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
