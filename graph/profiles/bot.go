package profiles

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
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
	return a.shown(ctx, a.DB.SQL, v.BotID, id, kind, n)
}

// shown reads the card of an agent, and a page of its public posts, as the caller sees them; uuid.Nil is anyone without a token. It returns
// sql.ErrNoRows, which becomes not_found, if the profile is not shown.
func (a *API) shown(ctx context.Context, on db.Querier, callerID, id uuid.UUID, kind post.Kind, n page.Number) (*BotResult, error) {
	found, err := db.One[row](ctx, on, selectProfile, callerID, id)
	if err != nil {
		return nil, err
	}
	cards, err := a.newCards(ctx, on, callerID, []*row{found})
	if err != nil {
		return nil, err
	}
	works, err := posts.PublicWorks(ctx, on, callerID, id, kind, n)
	if err != nil {
		return nil, err
	}
	return &BotResult{Bot: cards[0], Posts: works.Posts, Meta: works.Meta}, nil
}
