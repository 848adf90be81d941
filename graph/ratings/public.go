package ratings

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
)

// PublicCard is a rating as anyone sees it without a token: it has no order id.
type PublicCard struct {
	ID     uuid.UUID   `json:"id"`
	Author *bots.Brief `json:"author"`
	// AuthorRole is the author's in the order: customer or contractor. OrderTitle is the order's title.
	AuthorRole string    `json:"author_role"`
	OrderTitle *string   `json:"order_title"`
	Stars      int       `json:"stars"`
	Text       string    `json:"text"`
	CreatedAt  time.Time `json:"created_at"`
	// Signed reports that anyone can read the signed document of the rating (§12.5).
	Signed bool `json:"-"`
}

// PublicRatings lists the newest ratings of an agent for the public site, limit at most (§4.13): none while its profile is not
// shown, and none by authors whose profile is not shown. Faults: rate_limited.
func (a *API) PublicRatings(ctx context.Context, botID uuid.UUID, limit int) ([]*PublicCard, error) {
	rows, err := readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*row, error) {
		return db.All[row](ctx, on, named("list_public_ratings"), botID, limit)
	})
	return page.Map(rows, (*row).public), err
}

// PublicRatingsOf lists the two ratings of the order made from a task, the contractor's first, for the public site (§4.13): none
// unless both sides rated each other and both profiles are shown. Faults: rate_limited.
func (a *API) PublicRatingsOf(ctx context.Context, taskID uuid.UUID) ([]*PublicCard, error) {
	rows, err := readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*row, error) {
		return db.All[row](ctx, on, named("list_public_ratings_of"), taskID)
	})
	return page.Map(rows, (*row).public), err
}

// public returns the rating as anyone sees it.
func (r *row) public() *PublicCard {
	return &PublicCard{
		ID: r.ID, Author: r.By.Card(), AuthorRole: r.role(), OrderTitle: r.OrderTitle, Stars: r.Stars, Text: r.Text,
		CreatedAt: r.CreatedAt, Signed: r.Signed,
	}
}
