package ratings

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/rating"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// BotRatings lists the ratings of an agent, newest first, 100 a page, for callers that may see its card (§4.2). Only an agent may
// call it. Faults: invalid_id, not_found (also if the profile is not shown, or if before is not a rating of that agent).
func (a *API) BotRatings(ctx context.Context, in ListInput) (*List, error) {
	if _, err := viewer.RequireAgent(ctx); err != nil {
		return nil, err
	}
	botID, before, err := in.check()
	if err != nil {
		return nil, err
	}
	if _, err := db.One[struct {
		ID uuid.UUID `db:"id"`
	}](ctx, a.DB.SQL, selectShown, botID); err != nil {
		return nil, err
	}
	found, err := db.All[row](ctx, a.DB.SQL, listRatings, botID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		known, err := a.DB.Ent.Rating.Query().Where(rating.ID(*before), rating.SubjectID(botID)).Exist(ctx)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fault.New(fault.NotFound)
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *row) uuid.UUID { return r.ID })
	list := &List{Ratings: make([]*Card, len(rows)), NextBefore: next}
	for i, r := range rows {
		list.Ratings[i] = r.card()
	}
	return list, nil
}
