package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/graph/bots"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// created is what the history calls an order's first step.
const created = "create"

// meet reads everything that decides an offer, in one round trip: $1 is the caller, $2 the counterpart, $3 the operation. An
// unknown counterpart reads as a deleted one.
var meet = `
SELECT p.request_hash, p.result, stoa_now(),
  EXISTS (SELECT FROM contacts f WHERE f.state = 'accepted'
    AND f.low_id = least($1::uuid, $2::uuid) AND f.high_id = greatest($1::uuid, $2::uuid)),
  coalesce(stoa_active(me, s) AND stoa_active(other, s), false), s.fee_bps,
  coalesce(other.state, 'deleted') = 'deleted', ` + bots.BriefColumns("me") + `,
  coalesce(other.id, $2::uuid), coalesce(other.handle, ''), coalesce(other.display_name, ''), other.encryption_public_key,
  CASE WHEN stoa_public(other) THEN other.avatar_id END
FROM settings s JOIN bots me ON s.id = 1 AND me.id = $1::uuid LEFT JOIN bots other ON other.id = $2::uuid
LEFT JOIN operations p ON p.bot_id = $1::uuid AND p.operation_id = $3::uuid`

// takeTurn waits for identical requests, which have no row yet that could be locked, until the transaction ends: $1 is the
// caller, $2 the operation. The class of the lock is stoa_order_open's.
const takeTurn = `SELECT pg_advisory_xact_lock(7061, hashtext($1::uuid::text || $2::uuid::text))`

// keepFriendship takes the turn and then keeps the friendship with $3 as it is until the transaction ends.
const keepFriendship = `
WITH turn AS MATERIALIZED (` + takeTurn + `)
SELECT FROM contacts f
WHERE (SELECT count(*) FROM turn) = 1 AND f.low_id = least($1::uuid, $3::uuid) AND f.high_id = greatest($1::uuid, $3::uuid)
FOR SHARE OF f`

// CreateOrder offers a friend an order, as its customer or as its contractor; nothing is reserved yet (§3.1, §4.7). Only an
// agent may call it. The order of checks: the form of the fields (invalid_input), the stored result of an identical request or
// idempotency_conflict, a deadline that has passed and a total over 10^12 (invalid_input), not_found for an unknown
// counterpart, invalid_attachment, friendship_required (also for oneself), participant_inactive, attachment_already_bound,
// price_changed.
func (a *API) CreateOrder(ctx context.Context, in CreateInput) (*OrderResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	f, err := in.check()
	if err != nil {
		return nil, err
	}
	id := newID()
	op, err := newOperation(v.BotID, f.operationID, created, uuid.Nil, in.canonical())
	if err != nil {
		return nil, err
	}
	return a.once(ctx, work{
		act:   func(ctx context.Context, in scope) (*OrderResult, error) { return a.createIn(ctx, in, f, id, op) },
		files: len(f.files) > 0, lock: keepFriendship, args: []any{v.BotID, op.id, f.counterpart},
	})
}

// createIn reads what decides an offer, decides, and writes.
func (a *API) createIn(ctx context.Context, in scope, f offer, id uuid.UUID, op operation) (*OrderResult, error) {
	var (
		s         situation
		me, other bots.BriefRow
		gone      bool
		feeBps    int64
		kept      stored
	)
	err := in.QueryRowContext(ctx, meet, op.agent, f.counterpart, op.id).Scan(slices.Concat(
		[]any{&kept.hash, &kept.result, &s.now, &s.friends, &s.active, &feeBps, &gone}, me.Targets(), other.Targets())...)
	if err != nil {
		return nil, err
	}
	if made, err := op.repeat(kept); made != nil || err != nil {
		return made, err
	}
	if !f.deadline.After(s.now) {
		return nil, fault.Field(fault.InvalidInput, "deadline", errPast.Error())
	}
	q, err := Price(f.amountMinor, feeBps)
	if err != nil {
		return nil, err
	}
	if gone {
		return nil, fault.New(fault.NotFound).Say("There is no such agent.")
	}
	s.order.ID = id
	files := s.bindFiles(ctx, in.tx, me.ID, s.inputsTarget(), f.files)
	switch {
	case files != nil && !alreadyBound(files):
		return nil, files
	case !s.friends:
		return nil, fault.New(friends.refusal)
	case !s.active:
		return nil, fault.New(bothActive.refusal)
	case files != nil:
		return nil, files
	case f.confirmedTotal != nil && *f.confirmedTotal != q.TotalMinor:
		return nil, fault.New(fault.PriceChanged)
	}
	s.customer, s.contractor = other, me
	if f.byCustomer {
		s.customer, s.contractor = me, other
	}
	s.order = ent.Order{
		ID: id, CreatedAt: s.now, UpdatedAt: s.now, State: order.StateOffered, Version: 1,
		CustomerID: s.customer.ID, ContractorID: s.contractor.ID, AuthorID: me.ID,
		Title: f.title, Description: f.description, Deadline: f.deadline,
		AmountMinor: q.AmountMinor, FeeMinor: q.FeeMinor, TotalMinor: q.TotalMinor, FeeBps: q.FeeBps,
	}
	if f.byCustomer {
		s.order.ConfirmedTotalMinor = f.confirmedTotal
	}
	return a.open(ctx, in, &s, step{action: created, by: me.ID, at: s.now}, op, movement{})
}
