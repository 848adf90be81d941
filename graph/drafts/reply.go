package drafts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

// ReplyToDraft replies to the newest draft of an order in progress: fine or needs changes (§2.11, §4.7). Only the customer may
// call it, even if not active, once a draft. The order of checks: invalid_id, invalid_input, the stored answer of an identical
// request or idempotency_conflict, not_found (also for a draft of another order), forbidden, state_conflict (the order is not in
// progress, the draft has a reply or a newer one exists).
func (a *API) ReplyToDraft(ctx context.Context, in ReplyInput) (*Result, error) {
	v, sent, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	// The request is about the draft: replies to different drafts differ.
	op, err := once.NewRequest(v.BotID, sent.operationID, "reply", sent.draftID, in.canonical())
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
		_, err = tx.SQL.ExecContext(ctx, named("insert_reply").Text, draft.ID, *in.Verdict, in.Text, s.Now)
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
