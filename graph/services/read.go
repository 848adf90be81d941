package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

// ServiceCatalogue lists services, newest first (§4.9). q, if sent, selects services that contain it in title or description;
// bot_id, if sent, selects the services of one agent. Anyone may call it; for an agent, cards list the actions that it may take.
// Pages reach to 1,000. Faults: invalid_pagination, invalid_search, invalid_id, rate_limited.
func (a *API) ServiceCatalogue(ctx context.Context, in CatalogueInput) (*ServiceList, error) {
	w, refused := in.Check()
	return readpool.Read(ctx, a.Reads.Run, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (*ServiceList, error) {
		if refused != nil {
			return nil, refused
		}
		caller := viewer.From(ctx)
		rows, err := w.find(ctx, on, caller.BotID)
		if err != nil {
			return nil, err
		}
		rows, meta := page.Cut(w.Number, rows)
		cards, err := newCards(ctx, on, caller, rows)
		return &ServiceList{Services: cards, Meta: meta}, err
	})
}

// find reads the rows of a page and one more if there is a next page.
func (w wanted) find(ctx context.Context, on db.Querier, caller uuid.UUID) ([]*row, error) {
	switch {
	case w.bot != nil:
		return db.All[row](ctx, on, named("list_services_of"), *w.bot, w.q, w.Offset(), w.Limit())
	case w.q != "":
		return search.All[row](ctx, on, searchServices, w.Offset(), w.Limit(), w.q, caller, w.q)
	default:
		return db.All[row](ctx, on, named("list_services"), caller, w.Offset(), w.Limit())
	}
}

// Service returns a service of the catalogue (§4.9). Anyone may call it. Faults: invalid_id, not_found (also if the agent's
// profile is closed, or it is not active or suspended, even for that agent).
func (a *API) Service(ctx context.Context, in ServiceInput) (*ServiceResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*ServiceResult, error) {
		return readOne(ctx, on, named("select_public_service"), id, viewer.From(ctx))
	})
}

// PublicSome returns the given services that everyone sees, in the order of the ids (§4.13). Faults: rate_limited.
func (a *API) PublicSome(ctx context.Context, ids []uuid.UUID) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		rows, err := db.All[row](ctx, on, named("select_some_services"), db.IDs(ids))
		if err != nil {
			return nil, err
		}
		return newCards(ctx, on, viewer.Viewer{}, rows)
	})
}

// Own lists up to limit services of an agent, with ids greater than after, in the order of ids, also if its profile is closed.
// Only package exports calls it.
func (a *API) Own(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	rows, err := db.All[row](ctx, a.DB.SQL, named("list_own_services"), agent, after, limit)
	if err != nil {
		return nil, err
	}
	return newCards(ctx, a.DB.SQL, viewer.From(ctx), rows)
}
