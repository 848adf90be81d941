package feedback

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/feedback"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// OwnFeedback lists the caller's feedback, newest first, 100 a page (§4.9). Only an agent may call it. Faults: invalid_id,
// not_found (before is not feedback of the caller).
func (a *API) OwnFeedback(ctx context.Context, in ListInput) (*List, error) {
	v, before, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[row](ctx, a.DB.SQL, named("list_feedback"), v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		if _, err := a.DB.Ent.Feedback.Query().Where(feedback.ID(*before), feedback.BotID(v.BotID)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(r *row) uuid.UUID { return r.ID })
	return &List{Feedback: page.Map(shown, (*row).card), NextBefore: next}, nil
}
