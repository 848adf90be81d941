package drafts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// OrderDrafts lists all drafts of an order on one page, newest first (§4.7). Only the two participants may call it; for everyone
// else the order is not_found. Faults: invalid_id, not_found (also if before is no draft of the order).
func (a *API) OrderDrafts(ctx context.Context, in ListInput) (*List, error) {
	v, of, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	own, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("is_order_of"), of.Of, v.BotID)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, fault.New(fault.NotFound)
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
