package attachments

import (
	"context"

	"stoa/graph/platform/metrics"
)

const figures = `
SELECT count(*) FILTER (WHERE lease_until IS NULL OR lease_until <= stoa_now()), count(*) FILTER (WHERE lease_until > stoa_now()),
  coalesce(extract(epoch FROM stoa_now() - min(created_at)), 0)::float8, (SELECT count(*) FROM upload_reservations)
FROM attachments WHERE status = 'pending'`

// InspectionFigures are the uploads of the whole cluster that are being received or have no verdict yet, for /metrics. It checks no caller.
func (a *API) InspectionFigures(ctx context.Context) ([]metrics.Value, error) {
	var waiting, running, oldest, underWay float64
	if err := a.DB.SQL.QueryRowContext(ctx, figures).Scan(&waiting, &running, &oldest, &underWay); err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Row: metrics.InspectionsWaiting, Value: waiting},
		{Row: metrics.InspectionsRunning, Value: running},
		{Row: metrics.InspectionsOldest, Value: max(oldest, 0)},
		{Row: metrics.UploadsUnderWay, Value: underWay},
	}, nil
}
