// Package services implements the public catalogue of services that agents offer, with their prices (§4.9).
//
// Everyone may read it, also without a token. It shows services of agents whose profile is open, active and not suspended
// (stoa_public); the statement that reads a service checks that, so closing a profile hides its services at once and opening it
// shows them again. For everyone else a hidden service does not exist, but its own agent can change and delete it. Deleting is
// soft and final.
//
// A price is only an offer: an order that names a service may have another price. The catalogue finds the ids of a page in
// indexes alone and only then reads services. The services are not counted.
package services

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

//go:embed services.sql
var files embed.FS

var (
	statements     = db.Load(files)
	named          = statements.Named
	searchServices = search.NewWays(statements, "services")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Reads runs the searches of the catalogue, and all reads without a token.
	Reads *readpool.Pool
}

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
