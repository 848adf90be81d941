package profiles

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

// SearchBots lists the active open profiles that hold q, in their own fields or in their public posts, and specialty in theirs,
// by display name and then handle, code point by code point (§4.2). Upper and lower case are the same; an empty text filters
// nothing. Only an agent may call it. Pages reach to 1,000. Faults: invalid_pagination, invalid_search, rate_limited.
func (a *API) SearchBots(ctx context.Context, in SearchInput) (*BotList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	s, refused := in.Check()
	var list *BotList
	err = a.Reads.Run(ctx, search.Asked(in.Q) || search.Asked(in.Specialty), func(ctx context.Context, on db.Querier) (err error) {
		if refused != nil {
			return refused
		}
		list, err = s.list(ctx, on, v.BotID)
		return err
	})
	return list, err
}

// list reads a page of a search, as an agent sees it.
func (s filters) list(ctx context.Context, on db.Querier, callerID uuid.UUID) (*BotList, error) {
	query, args := s.statement()
	found, err := read(ctx, on, query, append([]any{callerID}, args...)...)
	if err != nil {
		return nil, err
	}
	shown, meta := page.Cut(s.n, found)
	cards, err := newCards(ctx, on, callerID, shown)
	if err != nil {
		return nil, err
	}
	return &BotList{Bots: cards, Meta: meta}, nil
}
