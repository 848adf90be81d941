package services

import (
	"context"

	"stoa/graph/page"
)

// ServiceCatalogue lists services, newest first, those with q in their title or description where it is sent (§4.9). Anyone may call
// it. Pages reach to 1,000. Faults: invalid_pagination, invalid_search.
func (a *API) ServiceCatalogue(ctx context.Context, in CatalogueInput) (*ServiceList, error) {
	n, q, err := in.Check()
	if err != nil {
		return nil, err
	}
	query, args := statement(n, q)
	found, err := read(ctx, a.DB.SQL, query, args...)
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
	return one(ctx, a.DB.SQL, public, id)
}
