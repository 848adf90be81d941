package orders

import (
	"context"
	"database/sql"
	"errors"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// look reads everything that decides an action, in one round trip: $1 is the order, $2 the caller, $3 the operation. Whether the
// customer can pay is left to the ledger. The time is never before the order's last step, so that its history does not run
// backwards.
var look = `
SELECT p.request_hash, p.result, ` + columns + `, ` + hasFiles + `, greatest(stoa_now(), o.updated_at), ` + areFriends + `, ` + areActive + `, true
FROM orders o` + parties + ` LEFT JOIN operations p ON p.bot_id = $2 AND p.operation_id = $3
WHERE o.id = $1 AND $2 IN (o.customer_id, o.contractor_id)`

// keepOrder keeps what look reads from changing until the transaction ends: $1 is the order, $2 the caller, and $3 tells of the
// obligation. The friendship is locked before the order: the sub-select in the last condition runs before orders are looked at.
const keepOrder = `
WITH friendship AS MATERIALIZED (
  SELECT FROM orders o JOIN contacts f ON f.low_id = least(o.customer_id, o.contractor_id) AND f.high_id = greatest(o.customer_id, o.contractor_id)
  WHERE $3 AND o.id = $1 AND $2 IN (o.customer_id, o.contractor_id)
  FOR SHARE OF f
)
SELECT FROM orders o WHERE o.id = $1 AND $2 IN (o.customer_id, o.contractor_id) AND (SELECT count(*) FROM friendship) <= 1
FOR UPDATE OF o`

// OrderAct takes an order one step further: the action of the path, by the row of the table in state.go (§3.1, §4.7). Only one
// of the two participants may call it. The order of checks: the form of the fields (not_found for an unknown action,
// invalid_id, invalid_input), the stored result of an identical request or idempotency_conflict, not_found, the role (forbidden,
// counterparty_required), version_conflict, state_conflict or refund_not_proposed, immutable_attachments, invalid_input for the
// customer's missing confirmation, what the action needs (friendship_required, participant_inactive, deadline_passed,
// refund_proposal_exists), price_changed, the files (invalid_attachment, attachment_already_bound), and the money
// (insufficient_funds, ledger_conflict).
func (a *API) OrderAct(ctx context.Context, in ActInput) (*OrderResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	c, err := in.check()
	if err != nil {
		return nil, err
	}
	op, err := newOperation(v.BotID, c.operationID, string(c.action), c.orderID, in.canonical())
	if err != nil {
		return nil, err
	}
	return a.once(ctx, work{
		act:   func(ctx context.Context, in scope) (*OrderResult, error) { return a.actIn(ctx, in, c, op) },
		files: len(c.results) > 0, lock: keepOrder, args: []any{c.orderID, v.BotID, c.obliges()},
	})
}

// actIn reads what decides an action, decides, and writes.
func (a *API) actIn(ctx context.Context, in scope, c command, op operation) (*OrderResult, error) {
	var (
		s    situation
		kept stored
	)
	err := in.QueryRowContext(ctx, look, c.orderID, op.agent, op.id).
		Scan(append([]any{&kept.hash, &kept.result}, s.targets()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		if made, stored := op.repeated(ctx, in); made != nil || stored != nil {
			return made, stored
		}
	}
	if err != nil {
		return nil, err
	}
	if made, err := op.repeat(kept); made != nil || err != nil {
		return made, err
	}
	if err := c.refuse(&s, op); err != nil {
		return nil, err
	}
	if err := s.bindFiles(ctx, in.tx, op.agent, s.resultsTarget(), c.results); err != nil {
		return nil, err
	}
	next := step{
		action: string(c.action), by: op.agent, at: s.now,
		confirmedTotal: c.confirmedTotal, resultText: c.resultText, reason: c.reason,
	}
	s.order.State, s.order.UpdatedAt = c.to, s.now
	s.order.Version++
	if c.record != nil {
		c.record(&s.order, next)
	}
	return a.change(ctx, in, &s, next, op, c.transition)
}

// refuse is the order of checks of contract §6, up to the money.
func (c command) refuse(s *situation, op operation) error {
	if err := c.refuseRole(s, op.agent); err != nil {
		return err
	}
	if c.expectedVersion != int64(s.order.Version) {
		return fault.New(fault.VersionConflict)
	}
	if err := c.refuseState(s); err != nil {
		return err
	}
	if c.fixed {
		return fault.New(fault.ImmutableAttachments)
	}
	if c.takes == aConfirmation && op.agent == s.order.CustomerID && c.confirmedTotal == nil {
		return fault.Field(fault.InvalidInput, "confirmed_total_minor", errRequired.Error())
	}
	if err := c.refuseNeeds(s); err != nil {
		return err
	}
	if c.confirmedTotal != nil && *c.confirmedTotal != s.order.TotalMinor {
		return fault.New(fault.PriceChanged)
	}
	return nil
}

// escrow is the order's money as the ledger moves it.
func (s *situation) escrow(op operation) wallet.Escrow {
	o := &s.order
	return wallet.Escrow{
		OrderID: o.ID, OperationID: op.id, CustomerID: o.CustomerID, ContractorID: o.ContractorID,
		AmountMinor: o.AmountMinor, FeeMinor: o.FeeMinor,
	}
}
