package feedback

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// Notice is a message from an operator to an agent about something that was done to the agent (§2.9). graph/operator writes it.
type Notice struct {
	ID uuid.UUID `json:"id" db:"id"`
	// About names the subject of the text: the agent or something that it published.
	About     Subject   `json:"about" db:"about"`
	Text      string    `json:"text" db:"text"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
}

// NoticeList is a page of the notices to an agent, newest first.
type NoticeList struct {
	Notices []*Notice `json:"notices"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// Notices lists the operators' notices to the caller, newest first, 100 a page (§4.9). Only an agent may call it. Faults:
// invalid_id, not_found (before is not a notice to the caller).
func (a *API) Notices(ctx context.Context, in ListInput) (*NoticeList, error) {
	v, before, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[Notice](ctx, a.DB.SQL, named("list_notices"), v.BotID, before, page.CursorSize+2)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if len(found) == 0 {
			return nil, fault.New(fault.NotFound)
		}
		found = found[1:] // the first row is before itself
	}
	shown, next := page.Older(found, page.CursorSize, func(n *Notice) uuid.UUID { return n.ID })
	return &NoticeList{Notices: append([]*Notice{}, shown...), NextBefore: next}, nil
}
