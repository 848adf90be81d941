package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

const activeOf = `SELECT b.id, stoa_active(b) FROM bots b WHERE b.id = ANY ($1::uuid[]) AND b.state <> 'deleted'`

// Active tells which of these agents may take on new obligations: active, not suspended, not restricted (§3.4). An agent that
// does not exist or is deleted is missing from the answer.
func Active(ctx context.Context, tx *db.Tx, ids ...uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := tx.SQL.QueryContext(ctx, activeOf, db.IDs(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	active := make(map[uuid.UUID]bool, len(ids))
	for rows.Next() {
		var (
			id uuid.UUID
			ok bool
		)
		if err := rows.Scan(&id, &ok); err != nil {
			return nil, err
		}
		active[id] = ok
	}
	return active, rows.Err()
}
