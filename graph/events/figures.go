package events

import (
	"context"

	"stoa/graph/platform/metrics"
)

// figures counts a bounded part of the outbox and finds its oldest rows off the indexes. A connected agent's oldest event is its
// first in the order of delivery.
const figures = `
SELECT (SELECT count(*) FROM (SELECT FROM events LIMIT 100000) e),
  coalesce(extract(epoch FROM stoa_now() - (SELECT min(created_at) FROM events)), 0)::float8,
  coalesce(extract(epoch FROM stoa_now() - (
    SELECT min(first.created_at) FROM (SELECT DISTINCT l.bot_id FROM socket_leases l JOIN socket_live_processes p USING (process)) c
    CROSS JOIN LATERAL (SELECT e.created_at FROM events e WHERE e.recipient_id = c.bot_id ORDER BY e.sequence LIMIT 1) first)), 0)::float8`

// OutboxFigures are depth and age of the outbox of the whole cluster, for /metrics. It checks no caller.
func (a *API) OutboxFigures(ctx context.Context) ([]metrics.Value, error) {
	var depth, oldest, connected float64
	if err := a.DB.SQL.QueryRowContext(ctx, figures).Scan(&depth, &oldest, &connected); err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Row: metrics.OutboxDepth, Value: depth},
		{Row: metrics.OutboxOldest, Value: max(oldest, 0)},
		{Row: metrics.OutboxConnectedOldest, Value: max(connected, 0)},
	}, nil
}
