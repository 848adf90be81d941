package drafts

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

// SendDraft shows the customer of an order in progress a draft: a text, files or both (§2.11, §4.7). Only the contractor may call
// it, even if not active. The order of checks: invalid_id, invalid_input, the stored answer of an identical request or
// idempotency_conflict, not_found, forbidden, state_conflict (the order is not in progress, or has 20 drafts),
// invalid_attachment, attachment_already_bound (not for a file of another draft of the order).
func (a *API) SendDraft(ctx context.Context, in SendInput) (*Result, error) {
	v, sent, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	op, err := once.NewRequest(v.BotID, sent.operationID, "draft", sent.orderID, in)
	if err != nil {
		return nil, err
	}
	return a.run(ctx, op, sent.orderID, func(ctx context.Context, tx *db.Tx, s *snapshot) (*row, events.Event, error) {
		if err := s.refuse(v.BotID, *s.ContractorID, "contractor"); err != nil {
			return nil, events.Event{}, err
		}
		if s.Drafts >= bounds.DraftsPerOrder {
			return nil, events.Event{}, fault.New(fault.StateConflict).Say(fmt.Sprintf("An order has at most %d drafts.", bounds.DraftsPerOrder))
		}
		draft := &row{AttachmentIDs: sent.files, Card: Card{
			ID: uuid.Must(uuid.NewV7()), CreatedAt: s.Now, OrderID: sent.orderID, Number: s.Drafts + 1, Text: in.Text,
		}}
		if len(sent.files) > 0 {
			target := attachments.Target{Use: attachments.AsOrderDraft, ID: sent.orderID}
			if err := attachments.BindMore(ctx, tx, v.BotID, target, sent.files); err != nil {
				return nil, events.Event{}, err
			}
		}
		err := db.Exec(ctx, tx.SQL, named("insert_draft"), draft.ID, draft.CreatedAt, draft.OrderID, draft.Number, draft.Text,
			db.IDs(sent.files))
		return draft, events.Event{
			Recipient: *s.CustomerID, Kind: events.OrderDraft,
			Payload: events.DraftPayload{OrderID: draft.OrderID, DraftID: draft.ID},
		}, err
	})
}

// writer decides and writes one draft or reply. It returns the resulting draft and the event that announces it.
type writer func(ctx context.Context, tx *db.Tx, s *snapshot) (*row, events.Event, error)

// run locks the order, answers a repeat with the stored answer, and otherwise lets write decide. Faults: idempotency_conflict,
// not_found (the caller is not a participant of the order), the faults of write.
func (a *API) run(ctx context.Context, op once.Request, orderID uuid.UUID, write writer) (*Result, error) {
	return once.Do(ctx, a.DB, named("lock_order_of_drafts"), []any{orderID, op.Agent}, func(ctx context.Context, tx *db.Tx) (*Result, error) {
		s, err := db.One[snapshot](ctx, tx.SQL, named("select_for_draft"), orderID, op.Agent, op.ID)
		if err != nil {
			return nil, err
		}
		if made, err := once.Repeated[Result](op, s.Stored); made != nil || err != nil {
			return made, err
		}
		if s.State == nil {
			return nil, fault.New(fault.NotFound)
		}
		draft, announcement, err := write(ctx, tx, s)
		if err != nil {
			return nil, err
		}
		shown, err := cards(ctx, tx.SQL, op.Agent, draft)
		if err != nil {
			return nil, err
		}
		made := &Result{Draft: shown[0]}
		if made.Answer, err = once.NewAnswer("draft", made.Draft); err != nil {
			return nil, err
		}
		if err := op.Store(ctx, tx, uuid.Must(uuid.NewV7()), s.Now, made.Answer); err != nil {
			return nil, err
		}
		return made, a.Events.Add(ctx, tx, announcement)
	})
}
