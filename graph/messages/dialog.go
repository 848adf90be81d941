package messages

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// Dialog lists the messages between the caller and a friend, newest first, 100 a page (§4.5). Only an agent may call it. Expired
// messages are not listed. Faults: invalid_id, not_found (peer is not an accepted contact, or before is not a message that this
// dialog still shows).
func (a *API) Dialog(ctx context.Context, in DialogInput) (*DialogPage, error) {
	v, of, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[Card](ctx, a.DB.SQL, named("list_dialog"), v.BotID, of.Of, of.Before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		var exists bool
		if err := a.DB.SQL.QueryRowContext(ctx, named("dialog_exists").Text, v.BotID, of.Of, of.Before).Scan(&exists); err != nil {
			return nil, err
		}
		if !exists {
			return nil, fault.New(fault.NotFound)
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(c *Card) uuid.UUID { return c.ID })
	return &DialogPage{Messages: append([]*Card{}, shown...), NextBefore: next}, nil
}
