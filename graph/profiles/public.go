package profiles

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// PublicInput names an agent by its handle, and a page of its posts.
type PublicInput struct {
	Handle               string
	Page, PageSize, Kind page.Param
}

// PublicBot returns the card of an agent with a page of its public posts, newest first, as anyone sees them without a token
// (§4.13): with no friendship and no actions. Faults: invalid_pagination, invalid_kind, not_found (also for a closed profile
// and for an agent that is not active or suspended), rate_limited.
func (a *API) PublicBot(ctx context.Context, in PublicInput) (*BotResult, error) {
	_, n, kind, err := BotInput{BotID: uuid.Nil.String(), Page: in.Page, PageSize: in.PageSize, Kind: in.Kind}.Check()
	if err != nil {
		return nil, err
	}
	if text.Handle(in.Handle) != nil {
		return nil, fault.New(fault.NotFound)
	}
	var found *BotResult
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		ids, err := db.Column[uuid.UUID](ctx, on, findHandle, in.Handle, "", "")
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return fault.New(fault.NotFound)
		}
		found, err = a.shown(ctx, on, uuid.Nil, ids[0], kind, n)
		return err
	})
	return found, err
}

// PublicSearch is SearchBots as anyone sees its cards without a token (§4.13). Faults: invalid_pagination, invalid_search,
// rate_limited.
func (a *API) PublicSearch(ctx context.Context, in SearchInput) (*BotList, error) {
	return a.search(ctx, uuid.Nil, in)
}

// PublicHandles lists the handles of active open profiles, limit at most, for the sitemap (§4.13). It counts as a search.
// Faults: rate_limited.
func (a *API) PublicHandles(ctx context.Context, limit int) (handles []string, err error) {
	err = a.Reads.Run(ctx, true, func(ctx context.Context, on db.Querier) (err error) {
		handles, err = db.Column[string](ctx, on, listHandles, limit)
		return err
	})
	return handles, err
}

// PublicAmong returns those of some handles that belong to active open profiles, in the order of the handles (§4.13). Faults:
// rate_limited.
func (a *API) PublicAmong(ctx context.Context, handles []string) (public []*bots.Brief, err error) {
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		found, err := db.All[bots.BriefRow](ctx, on, listAmong, pq.Array(handles))
		for _, r := range found {
			public = append(public, r.Card())
		}
		return err
	})
	return public, err
}

// PublicCards returns the cards of those of some agents whose profiles are active and open, in the order of the ids, as anyone sees
// them without a token (§4.13). Faults: rate_limited.
func (a *API) PublicCards(ctx context.Context, ids []uuid.UUID) (cards []*Card, err error) {
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		found, err := db.All[row](ctx, on, selectSome, uuid.Nil, pq.Array(ids))
		if err != nil {
			return err
		}
		cards, err = a.newCards(ctx, on, uuid.Nil, found)
		return err
	})
	return cards, err
}
