package profiles

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

// SearchBots lists the active open profiles that contain q in their fields or public posts, and specialty in their specialty, by
// display name and then handle, code point by code point (§4.2). Case is ignored; an empty text filters nothing. With a handle it
// lists only the agent with exactly that handle, or none. Only an agent may call it. Pages reach to 1,000. Faults:
// invalid_pagination, invalid_search, rate_limited.
func (a *API) SearchBots(ctx context.Context, in SearchInput) (*BotList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	return a.search(ctx, v.BotID, in)
}

// search reads a page of a search as a caller sees it.
func (a *API) search(ctx context.Context, callerID uuid.UUID, in SearchInput) (*BotList, error) {
	f, refused := in.Check()
	searching := search.Requested(in.Q) || search.Requested(in.Specialty)
	return readpool.Read(ctx, a.Reads.Run, searching, func(ctx context.Context, on db.Querier) (*BotList, error) {
		if refused != nil {
			return nil, refused
		}
		return a.list(ctx, on, callerID, f)
	})
}

// list reads a page of a search, as an agent sees it.
func (a *API) list(ctx context.Context, on db.Querier, callerID uuid.UUID, f filters) (*BotList, error) {
	found, err := f.find(ctx, on, callerID)
	if err != nil {
		return nil, err
	}
	rows, meta := page.Cut(f.n, found)
	cards, err := a.newCards(ctx, on, callerID, rows)
	if err != nil {
		return nil, err
	}
	return &BotList{Bots: cards, Meta: meta}, nil
}

// find reads the rows of a page and one more if there is a next page.
func (f filters) find(ctx context.Context, on db.Querier, callerID uuid.UUID) ([]*row, error) {
	switch {
	case f.handle == nil && f.q == "" && f.specialty == "":
		return db.All[row](ctx, on, named("list_profiles"), callerID, f.n.Offset(), f.n.Limit())
	case f.handle == nil:
		return search.All[row](ctx, on, searchProfiles, f.n.Offset(), f.n.Limit(), cmp.Or(f.q, f.specialty), callerID, f.specialty, f.q)
	case *f.handle == "" || f.n.Offset() > 0:
		return nil, nil
	}
	ids, err := db.Column[uuid.UUID](ctx, on, named("find_handle"), *f.handle, f.q, f.specialty)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return db.All[row](ctx, on, named("select_profile"), callerID, ids[0])
}
