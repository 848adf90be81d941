package events

import (
	"context"

	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

// outbox is the row of select_metrics.
type outbox struct {
	Depth                  float64 `db:"depth"`
	OldestSeconds          float64 `db:"oldest_seconds"`
	ConnectedOldestSeconds float64 `db:"connected_oldest_seconds"`
}

// Metrics returns depth and age of the outbox of the whole cluster, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	o, err := db.One[outbox](ctx, a.DB.SQL, named("select_metrics"), pq.Array(latestKinds))
	if err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Name: "stoa_outbox_events", Value: o.Depth},
		{Name: "stoa_outbox_oldest_seconds", Value: max(o.OldestSeconds, 0)},
		{Name: "stoa_outbox_connected_oldest_seconds", Value: max(o.ConnectedOldestSeconds, 0)},
	}, nil
}
