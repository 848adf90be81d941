package services

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// ServiceCatalogue lists services, newest first, those with q in their title or description where it is sent (§4.9). Anyone may
// call it. Pages reach to 1,000. Faults: invalid_pagination, invalid_search, rate_limited.
func (a *API) ServiceCatalogue(ctx context.Context, in CatalogueInput) (*ServiceList, error) {
	n, q, refused := in.Check()
	var rows []*row
	err := a.Reads.Run(ctx, search.Requested(in.Q), func(ctx context.Context, on db.Querier) (err error) {
		if refused != nil {
			return refused
		}
		statement, args := listServices, []any{n.Offset(), n.Limit()}
		if q != "" {
			statement, args = searchServices.For(n, q)
		}
		rows, err = db.All[row](ctx, on, statement, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, meta := page.Cut(n, rows)
	list := &ServiceList{Services: make([]*Card, len(rows)), Meta: meta}
	for i, r := range rows {
		list.Services[i] = r.card()
	}
	return list, nil
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
		found, err = readOne(ctx, on, selectPublicService, id)
		return err
	})
	return found, err
}
