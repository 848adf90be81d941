// Package ratings implements the ratings of the participants of closed orders, and the reputations made from them (§2.10, §4.7).
//
// Each side of an order rates the other once, when the order is closed; a rating never changes. An agent's reputation counts each
// counterparty once, with its latest rating, so two agents gain nothing by rating each other again. The table reputations holds
// one row for each agent, and cards read only that row. Triggers on ratings update it, for every program that writes
// (migrate/functions/ratings.sql). They lock that row first, so concurrent ratings of one agent are counted one after the other.
//
// A rating is idempotent; it shares the space of operation ids with orders. One transaction writes a rating, its stored answer,
// its event and the reputation. An operator can remove a rating (Remove); it then no longer counts.
package ratings

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/ent/rating"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/viewer"
)

//go:embed ratings.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Reads runs all reads without a token.
	Reads *readpool.Pool
}

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
		found, err := db.All[row](ctx, a.DB.SQL, named("select_own"), asked.Of, asked.orderID, v.BotID)
		return &List{Ratings: page.Map(found, (*row).card)}, err
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
