package services

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// ServiceCatalogue lists services, newest first, those with q in their title or description where it is sent (§4.9). Anyone may call
// it. Pages reach to 1,000. Faults: invalid_pagination, invalid_search, rate_limited.
func (a *API) ServiceCatalogue(ctx context.Context, in CatalogueInput) (*ServiceList, error) {
	n, q, refused := in.Check()
	var found []*Card
	err := a.Reads.Run(ctx, search.Asked(in.Q), func(ctx context.Context, on db.Querier) (err error) {
		if refused != nil {
			return refused
		}
		query, args := statement(n, q)
		found, err = read(ctx, on, query, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, meta := page.Cut(n, found)
	return &ServiceList{Services: shown, Meta: meta}, nil
}

// Service returns a service of the catalogue (§4.9). Anyone may call it. Faults: invalid_id, not_found (also where the agent's
// profile is closed, or it is not active or suspended, even for that agent).
func (a *API) Service(ctx context.Context, in ServiceInput) (*ServiceResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	var found *ServiceResult
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		found, err = one(ctx, on, public, id)
		return err
	})
	return found, err
}
