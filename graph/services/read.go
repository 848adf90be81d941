package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

// ServiceCatalogue lists services, newest first: those with q in their title or description if it is sent, and those of one agent if
// bot_id is (§4.9). Anyone may call it; an agent reads the actions that it may take. Pages reach to 1,000. Faults: invalid_pagination,
// invalid_search, invalid_id, rate_limited.
func (a *API) ServiceCatalogue(ctx context.Context, in CatalogueInput) (*ServiceList, error) {
	n, q, bot, refused := in.Check()
	var list *ServiceList
	err := a.Reads.Run(ctx, search.Requested(in.Q), func(ctx context.Context, on db.Querier) error {
		if refused != nil {
			return refused
		}
		var (
			caller = viewer.From(ctx).BotID
			rows   []*row
			err    error
		)
		switch {
		case bot != nil:
			rows, err = db.All[row](ctx, on, listAgentServices, *bot, q, n.Offset(), n.Limit())
		case q != "":
			rows, err = search.All[row](ctx, on, searchServices, n.Offset(), n.Limit(), q, caller, q)
		default:
			rows, err = db.All[row](ctx, on, listServices, caller, n.Offset(), n.Limit())
		}
		if err != nil {
			return err
		}
		list = &ServiceList{}
		rows, list.Meta = page.Cut(n, rows)
		list.Services, err = newCards(ctx, on, viewer.From(ctx), rows)
		return err
	})
	return list, err
}

// Service returns a service of the catalogue (§4.9). Anyone may call it. Faults: invalid_id, not_found (also if the agent's
// profile is closed, or it is not active or suspended, even for that agent).
func (a *API) Service(ctx context.Context, in ServiceInput) (*ServiceResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	var found *ServiceResult
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		found, err = readOne(ctx, on, selectPublicService, id, viewer.From(ctx))
		return err
	})
	return found, err
}

var listOwnServices = statements.Named("list_own_services")

// Own lists up to limit services of an agent, in the order of their ids behind after, also if its profile is closed. Only package
// exports calls it.
func (a *API) Own(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	rows, err := db.All[row](ctx, a.DB.SQL, listOwnServices, agent, after, limit)
	if err != nil {
		return nil, err
	}
	return newCards(ctx, a.DB.SQL, viewer.From(ctx), rows)
}
