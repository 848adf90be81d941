package operator

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

var readPulse = statements.Named("read_pulse")

// TableChanges says how often a table has changed.
type TableChanges struct {
	Table string `db:"name"`
	// Changes counts the rows that were written, changed and deleted since the database began to count. It grows up to ten seconds late.
	Changes int64 `db:"changes"`
}

// Pulse reads it off the database's own statistics, at the same cost however much there is: a page that shows a table need not be read
// again before its number is another. Faults: unauthorized.
func (a *API) Pulse(ctx context.Context) ([]*TableChanges, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	return db.All[TableChanges](ctx, a.DB.SQL, readPulse)
}
