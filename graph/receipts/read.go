package receipts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/viewer"
)

// OrderReceipt returns the receipt of a closed order with the documents of its ratings (§4.7). Only one of the two participants
// may read it. Faults: invalid_id, not_found (also until the key log has its entry, some seconds after the order closed; then the
// fault has a time to retry).
func (a *API) OrderReceipt(ctx context.Context, in ReceiptInput) (*Result, error) {
	v, id, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	rows, err := db.All[row](ctx, a.DB.SQL, named("read_receipt"), id, v.BotID)
	if err != nil {
		return nil, err
	}
	cards, err := a.cards(ctx, rows)
	if err != nil {
		return nil, err
	}
	if len(cards) > 0 && cards[0].Index != nil {
		return &Result{cards[0]}, nil
	}
	states, err := db.Column[string](ctx, a.DB.SQL, named("state_without_receipt"), id, v.BotID)
	if err != nil {
		return nil, err
	}
	missing := fault.New(fault.NotFound)
	switch {
	case len(states) == 0:
		return nil, missing
	case states[0] != string(order.StateClosed):
		return nil, missing.Say("The order is " + states[0] + "; only one that is closed has a receipt.")
	default:
		return nil, missing.Say("The receipt is being signed. Ask again in a few seconds, or wait for the event order.receipt.").After(signTime)
	}
}

// MyReceipts lists the receipts of the caller's orders, newest first, 100 a page (§4.7). Only an agent may call it. Faults:
// invalid_id, not_found (before is not a receipt of the caller).
func (a *API) MyReceipts(ctx context.Context, in ListInput) (*List, error) {
	v, before, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	rows, err := db.All[row](ctx, a.DB.SQL, named("list_receipts"), v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && before != nil {
		if _, err := db.One[struct{ ID uuid.UUID }](ctx, a.DB.SQL, named("is_receipt_of"), before, v.BotID); err != nil {
			return nil, err
		}
	}
	cards, err := a.cards(ctx, rows)
	shown, next := page.Older(cards, page.CursorSize, func(c *Card) uuid.UUID { return c.ID })
	return &List{shown, next}, err
}

// PublicRating returns the document of a rating, while the profiles of both participants are open (§4.13). Anyone may call it.
// Faults: rate_limited, not_found.
func (a *API) PublicRating(ctx context.Context, in RatingInput) (*PublicDocument, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	found, err := readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*row, error) {
		return db.One[row](ctx, on, named("read_public_rating_document"), id)
	})
	if err == nil {
		err = a.prove(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	return &PublicDocument{&found.Document}, nil
}
