package drafts

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// SendDraft shows the customer of an order in progress a draft: a text, files or both (§2.11, §4.7). Only the contractor may call it,
// also one that is not active. The order of checks: invalid_id, invalid_input, the stored answer of an identical request or
// idempotency_conflict, not_found, forbidden, state_conflict (the order is not in progress, or has 20 drafts), invalid_attachment,
// attachment_already_bound (a file of a draft of the same order is not).
func (a *API) SendDraft(ctx context.Context, in SendInput) (*Result, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	sent, err := in.check()
	if err != nil {
		return nil, err
	}
	return a.run(ctx, v.BotID, sent.request, func(ctx context.Context, tx *db.Tx, s *snapshot) (*row, events.Event, error) {
		if err := s.refuse(v.BotID, *s.ContractorID, "contractor"); err != nil {
			return nil, events.Event{}, err
		}
		if s.Drafts >= maxDrafts {
			return nil, events.Event{}, fault.New(fault.StateConflict).Say(fmt.Sprintf("An order has at most %d drafts.", maxDrafts))
		}
		draft := &row{
			ID: uuid.Must(uuid.NewV7()), CreatedAt: s.Now, OrderID: sent.orderID, Number: s.Drafts + 1, Text: sent.text,
			AttachmentIDs: sent.files,
		}
		if len(sent.files) > 0 {
			target := attachments.Target{Use: attachments.AsOrderDraft, ID: sent.orderID}
			if err := attachments.BindMore(ctx, tx, v.BotID, target, sent.files); err != nil {
				return nil, events.Event{}, err
			}
		}
		_, err := tx.SQL.ExecContext(ctx, insertDraft.Text, draft.ID, draft.CreatedAt, draft.OrderID, draft.Number, draft.Text,
			db.IDs(sent.files))
		return draft, events.Event{
			Recipient: *s.CustomerID, Kind: events.OrderDraft,
			Payload: events.DraftPayload{OrderID: draft.OrderID, DraftID: draft.ID},
		}, err
	})
}
