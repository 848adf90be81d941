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
	tables, err := a.tables(ctx, ids)
	if err != nil {
		return nil, err
	}
	nodes := make([]ent.Noder, len(ids))
	for i, id := range ids {
		name, exists := tables[id]
		if !exists {
			continue
		}
		node, err := a.DB.Ent.Noder(ctx, id, ent.WithFixedNodeType(name))
		if err != nil && !ent.IsNotFound(err) { // it may have been deleted since
			return nil, err
		}
		if err == nil {
			nodes[i] = node
		}
	}
	return nodes, nil
}

// table is a row of find_tables.
type table struct {
	ID   uuid.UUID `db:"id"`
	Name string    `db:"name"`
}

func (a *API) tables(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	rows, err := db.All[table](ctx, a.DB.SQL, findTables, db.IDs(ids))
	if err != nil {
		return nil, err
	}
	tables := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		tables[r.ID] = r.Name
	}
	return tables, nil
}
