package ratings

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/rating"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// BotRatings lists the ratings of an agent, newest first, 100 a page, for callers that may see its card (§4.2). Only an agent may
// call it. With order_id the list has at most the caller's own rating of that order, even if the profile is not shown or an
// operator has removed the rating. Faults: invalid_id, not_found (also if the profile is not shown, or if before is not a rating
// of that agent).
func (a *API) BotRatings(ctx context.Context, in ListInput) (*List, error) {
	v, asked, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	if asked.orderID != nil {
		return a.ownRating(ctx, v.BotID, asked)
	}
	if _, err := db.One[struct{ ID uuid.UUID }](ctx, a.DB.SQL, named("select_shown"), asked.Of); err != nil {
		return nil, err
	}
	found, err := db.All[row](ctx, a.DB.SQL, named("list_ratings"), asked.Of, asked.Before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && asked.Before != nil {
		if _, err := a.DB.Ent.Rating.Query().Where(rating.ID(*asked.Before), rating.SubjectID(asked.Of)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *row) uuid.UUID { return r.ID })
	return &List{Ratings: page.Map(rows, (*row).card), NextBefore: next}, nil
}

// ownRating lists the caller's rating of an order, if there is one.
func (a *API) ownRating(ctx context.Context, caller uuid.UUID, asked asked) (*List, error) {
	found, err := db.All[row](ctx, a.DB.SQL, named("select_own"), asked.Of, asked.orderID, caller)
	if err != nil {
		return nil, err
	}
	return &List{Ratings: page.Map(found, (*row).card)}, nil
}
