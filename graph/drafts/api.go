// Package drafts implements the drafts that a contractor shows its customer before the delivery, and the customer's replies
// (§2.11, §4.7).
//
// Drafts and replies are not steps of an order: they change no state, version or sum of §3.1. They are possible while the order
// is in progress. An order has at most 20 drafts, numbered from 1; a draft has at most one reply, made while the draft is the
// newest. Both participants read all of them, for as long as the order exists. The files of drafts are bound to the order and
// live as long as its other files; the contractor may deliver them later.
//
// Drafts and replies are idempotent; they share the space of operation ids with orders. A transaction locks the order before it
// decides, so a draft is never added to an order that has just been delivered, and concurrent drafts get different numbers. One
// transaction writes the draft or reply, its stored answer and its event.
package drafts

import (
	"context"
	"embed"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

//go:embed drafts.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
}

// OrderDrafts lists all drafts of an order on one page, newest first (§4.7). Only the two participants may call it; for everyone
// else the order is not_found. Faults: invalid_id, not_found (also if before is not a draft of the order).
func (a *API) OrderDrafts(ctx context.Context, in ListInput) (*List, error) {
	v, of, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	if _, err := db.One[struct{ ID uuid.UUID }](ctx, a.DB.SQL, named("is_order_of"), of.Of, v.BotID); err != nil {
		return nil, err
	}
	found, err := db.All[row](ctx, a.DB.SQL, named("list_drafts"), of.Of)
	if err != nil {
		return nil, err
	}
	if of.Before != nil {
		at := slices.IndexFunc(found, func(r *row) bool { return r.ID == *of.Before })
		if at < 0 {
			return nil, fault.New(fault.NotFound)
		}
		found = found[at+1:]
	}
	list := &List{}
	list.Drafts, err = cards(ctx, a.DB.SQL, v.BotID, found...)
	return list, err
}

// Of returns the drafts of an order, oldest first, as a participant that owns none of their files sees them. The caller has
// decided that they may be shown.
func Of(ctx context.Context, q db.Querier, orderID uuid.UUID) ([]*Card, error) {
	found, err := db.All[row](ctx, q, named("list_drafts"), orderID)
	if err != nil {
		return nil, err
	}
	slices.Reverse(found)
	return cards(ctx, q, uuid.Nil, found...)
}

// ReplyToDraft replies to the newest draft of an order in progress: fine or needs changes (§2.11, §4.7). Only the customer may
// call it, even if not active, once per draft. The order of checks: invalid_id, invalid_input, the stored answer of an identical
// request or idempotency_conflict, not_found (also for a draft of another order), forbidden, state_conflict (the order is not in
// progress, the draft has a reply or a newer one exists).
func (a *API) ReplyToDraft(ctx context.Context, in ReplyInput) (*Result, error) {
	v, sent, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	// The draft's id is part of the request, so replies to different drafts are different requests.
	op, err := once.NewRequest(v.BotID, sent.operationID, "reply", sent.draftID, in)
	if err != nil {
		return nil, err
	}
	return a.run(ctx, op, sent.orderID, func(ctx context.Context, tx *db.Tx, s *snapshot) (*row, events.Event, error) {
		draft, err := find(ctx, tx, sent.orderID, sent.draftID)
		if err != nil {
			return nil, events.Event{}, err
		}
		if err := s.refuse(v.BotID, *s.CustomerID, "customer"); err != nil {
			return nil, events.Event{}, err
		}
		switch {
		case draft.Verdict != nil:
			return nil, events.Event{}, fault.New(fault.StateConflict).Say("You have replied to this draft already.")
		case draft.Number != s.Drafts:
			return nil, events.Event{}, fault.New(fault.StateConflict).Say("There is a newer draft; reply to that one.")
		}
		draft.Verdict, draft.ReplyText, draft.RepliedAt = in.Verdict, in.Text, &s.Now
		err = db.Exec(ctx, tx.SQL, named("insert_reply"), draft.ID, *in.Verdict, in.Text, s.Now)
		return draft, events.Event{
			Recipient: *s.ContractorID, Kind: events.OrderDraftReply,
			Payload: events.DraftReplyPayload{OrderID: draft.OrderID, DraftID: draft.ID, Verdict: *in.Verdict},
		}, err
	})
}

// find returns a draft of an order. Faults: not_found.
func find(ctx context.Context, tx *db.Tx, orderID, draftID uuid.UUID) (*row, error) {
	all, err := db.All[row](ctx, tx.SQL, named("list_drafts"), orderID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(r *row) bool { return r.ID == draftID })
	if at < 0 {
		return nil, fault.New(fault.NotFound)
	}
	return all[at], nil
}
