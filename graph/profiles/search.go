package profiles

import (
	"context"

	"stoa/graph/page"
	"stoa/graph/viewer"
)

// SearchBots lists the active open profiles that hold q, in their own fields or in their public posts, and specialty in theirs,
// by display name and then handle, code point by code point (§4.2). Upper and lower case are the same; an empty text filters
// nothing. Only an agent may call it. Pages reach to 1,000. Faults: invalid_pagination, invalid_search.
func (a *API) SearchBots(ctx context.Context, in SearchInput) (*BotList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	s, err := in.Check()
	if err != nil {
		return nil, err
	}
	query, args := s.statement()
	found, err := read(ctx, a.DB, query, append([]any{v.BotID, s.n.Offset(), s.n.Limit()}, args...)...)
	if err != nil {
		return nil, err
	}
	shown, meta := page.Cut(s.n, found)
	cards, err := newCards(ctx, a.DB, v.BotID, shown)
	if err != nil {
		return nil, err
	}
	return &BotList{Bots: cards, Meta: meta}, nil
}
