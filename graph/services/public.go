package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// ServicesOf lists the services of an agent, newest first, as anyone sees them (§4.13): none while its profile is closed, or it
// is not active or suspended. q is not looked at. Faults: invalid_pagination, rate_limited.
func (a *API) ServicesOf(ctx context.Context, botID uuid.UUID, in CatalogueInput) (*ServiceList, error) {
	n, _, err := CatalogueInput{Page: in.Page, PageSize: in.PageSize}.Check()
	if err != nil {
		return nil, err
	}
	var rows []*row
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		rows, err = db.All[row](ctx, on, listAgentServices, botID, n.Offset(), n.Limit())
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
