package operator

import (
	"context"

	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
)

var countErasures = statements.Named("count_erasures")

// erasuresMost is how many open erasures are shown, erasuresCounted up to what number those of each state are counted.
const erasuresMost, erasuresCounted = 20, 1000

// OpenErasures are the erasures that were asked for and are not done (§12.7).
type OpenErasures struct {
	Pending int64 `db:"pending"`
	Partial int64 `db:"partial"`
	// First are those that are due first.
	First []*lifecycle.OpenErasure `db:"-"`
}

func (a *API) erasures(ctx context.Context) (*OpenErasures, error) {
	counted, err := db.One[OpenErasures](ctx, a.DB.SQL, countErasures, erasuresCounted)
	if err != nil {
		return nil, err
	}
	counted.First, err = lifecycle.OpenErasures(ctx, a.DB, erasuresMost)
	return counted, err
}
