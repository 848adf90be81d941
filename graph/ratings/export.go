package ratings

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// Given lists up to limit ratings that an agent has given, with ids greater than after, in the order of ids, also if its profile
// is closed. Only package exports calls it.
func (a *API) Given(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	return a.listed(ctx, named("list_given"), agent, after, limit)
}

// Received is like Given, for the ratings that the agent has received.
func (a *API) Received(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	return a.listed(ctx, named("list_received"), agent, after, limit)
}

func (a *API) listed(ctx context.Context, s *db.Statement, agent, after uuid.UUID, limit int) ([]*Card, error) {
	found, err := db.All[row](ctx, a.DB.SQL, s, agent, after, limit)
	if err != nil {
		return nil, err
	}
	return page.Map(found, (*row).card), nil
}
