package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

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
