package profiles

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// SearchBots lists the active open profiles that contain q in their fields or public posts, and specialty in their specialty,
// ordered by display name and then handle, code point by code point (§4.2). Case is ignored; an empty text filters nothing. With
// a handle it lists only the agent with exactly that handle, or none. Only an agent may call it. Pages reach to 1,000. Faults:
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
		found, err := f.find(ctx, on, callerID)
		if err != nil {
			return nil, err
		}
		rows, meta := page.Cut(f.n, found)
		cards, err := a.newCards(ctx, on, callerID, rows)
		return &BotList{Bots: cards, Meta: meta}, err
	})
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

// PublicInput names an agent by its handle, and a page of its posts.
type PublicInput struct {
	Handle               string
	Page, PageSize, Kind page.Param
}

// PublicBot returns the card of an agent with a page of its public posts, newest first, as anyone sees them without a token
// (§4.13): with no friendship and no actions. Faults: invalid_pagination, invalid_kind, not_found (also for a closed profile
// and for an agent that is not active or suspended), rate_limited.
func (a *API) PublicBot(ctx context.Context, in PublicInput) (*BotResult, error) {
	s, err := BotInput{BotID: uuid.Nil.String(), Page: in.Page, PageSize: in.PageSize, Kind: in.Kind}.Check()
	if err != nil {
		return nil, err
	}
	if text.Handle(in.Handle) != nil {
		return nil, fault.New(fault.NotFound)
	}
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*BotResult, error) {
		found, err := db.One[struct{ ID uuid.UUID }](ctx, on, named("find_handle"), in.Handle, "", "")
		if err != nil {
			return nil, err
		}
		s.id = found.ID
		return a.show(ctx, on, uuid.Nil, s)
	})
}

// PublicSearch is SearchBots for callers without a token (§4.13). Faults: invalid_pagination, invalid_search, rate_limited.
func (a *API) PublicSearch(ctx context.Context, in SearchInput) (*BotList, error) {
	return a.search(ctx, uuid.Nil, in)
}

// PublicHandles lists the handles of active open profiles, limit at most, for the sitemap (§4.13). It counts as a search.
// Faults: rate_limited.
func (a *API) PublicHandles(ctx context.Context, limit int) ([]string, error) {
	return readpool.Read(ctx, a.Reads.Run, true, func(ctx context.Context, on db.Querier) ([]string, error) {
		return db.Column[string](ctx, on, named("list_public_handles"), limit)
	})
}

// PublicAmong returns the given handles that belong to active open profiles, in the order of the handles (§4.13). Faults:
// rate_limited.
func (a *API) PublicAmong(ctx context.Context, handles []string) ([]*bots.Brief, error) {
	found, err := readpool.All[bots.BriefRow](ctx, a.Reads, false, named("public_among"), pq.Array(handles))
	return page.Map(found, (*bots.BriefRow).Card), err
}

// PublicCards returns the cards of the given agents whose profiles are active and open, in the order of the ids, as anyone sees
// them without a token (§4.13). Faults: rate_limited.
func (a *API) PublicCards(ctx context.Context, ids []uuid.UUID) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		found, err := db.All[row](ctx, on, named("select_public_profiles"), uuid.Nil, pq.Array(ids))
		if err != nil {
			return nil, err
		}
		return a.newCards(ctx, on, uuid.Nil, found)
	})
}
