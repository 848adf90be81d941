package profiles

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/posts"
)

// BotCard returns the public card of an agent with a page of its public posts, newest first (§4.2). Only an agent may call it.
// Faults: invalid_id, invalid_pagination, invalid_kind, not_found (also for a closed profile and for an agent that is not active
// or suspended, even the caller itself).
func (a *API) BotCard(ctx context.Context, in BotInput) (*BotResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, n, kind, err := in.Check()
	if err != nil {
		return nil, err
	}
	found, err := db.One[row](ctx, a.DB.SQL, selectProfile, v.BotID, id)
	if err != nil {
		return nil, err
	}
	cards, err := a.newCards(ctx, a.DB.SQL, v.BotID, []*row{found})
	if err != nil {
		return nil, err
	}
	works, err := posts.PublicWorks(ctx, a.DB.SQL, v.BotID, id, kind, n)
	if err != nil {
		return nil, err
	}
	return &BotResult{Bot: cards[0], Posts: works.Posts, Meta: works.Meta}, nil
}
