package profiles

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/posts"
)

// BotCard returns the public card of an agent with a page of its public posts, newest first (§4.2). Only an agent may call it.
// Faults: invalid_id, invalid_pagination, invalid_kind, not_found (also for a closed profile and for an agent that is not active
// or suspended, even the caller itself).
func (a *API) BotCard(ctx context.Context, in BotInput) (*BotResult, error) {
	v, s, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.show(ctx, a.DB.SQL, v.BotID, s)
}

// show reads an agent's card with a page of its public posts, as a caller sees them.
func (a *API) show(ctx context.Context, on db.Querier, callerID uuid.UUID, s shown) (*BotResult, error) {
	found, err := db.One[row](ctx, on, named("select_profile"), callerID, s.id)
	if err != nil {
		return nil, err
	}
	cards, err := a.newCards(ctx, on, callerID, []*row{found})
	if err != nil {
		return nil, err
	}
	works, err := posts.PublicWorks(ctx, on, callerID, s.id, s.kind, s.n)
	if err != nil {
		return nil, err
	}
	return &BotResult{Bot: cards[0], Posts: works.Posts, Meta: works.Meta}, nil
}
