package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Node finds any entity of the explorer by its id, or nil.
func (a *API) Node(ctx context.Context, id uuid.UUID) (ent.Noder, error) {
	found, err := a.Nodes(ctx, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Nodes finds up to MaxPage entities by their ids, in that order, with nil for each that does not exist. More ids are
// invalid_pagination.
func (a *API) Nodes(ctx context.Context, ids []uuid.UUID) ([]ent.Noder, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	if len(ids) > MaxPage {
		return nil, fault.Field(fault.InvalidPagination, "ids", "must be at most 100")
	}
	rows, err := read[table](ctx, a, named("find_tables"), db.IDs(ids))
	if err != nil {
		return nil, err
	}
	nodes := make([]ent.Noder, len(ids))
	for _, found := range rows {
		node, err := a.DB.Ent.Noder(ctx, found.ID, ent.WithFixedNodeType(found.Name))
		if ent.IsNotFound(err) { // it has been deleted since
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			if id == found.ID {
				nodes[i] = node
			}
		}
	}
	return nodes, nil
}

// table is a row of find_tables.
type table struct {
	ID   uuid.UUID
	Name string
}
