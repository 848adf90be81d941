package jobs

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/lib/pq"

	"stoa/graph/platform/metrics"
)

// shown are the states whose jobs are counted: all but those that ended well.
var shown = []string{"available", "running", "retryable", "scheduled", "discarded"}

// figures counts at most 10,000 jobs of each queue and state off the index that River takes its jobs by.
const figures = `
SELECT q.queue, s.state, (SELECT count(*) FROM (
  SELECT FROM river_job j WHERE j.state = s.state::river_job_state AND j.queue = q.queue LIMIT 10000) j)
FROM unnest($1::text[]) AS q (queue) CROSS JOIN unnest($2::text[]) AS s (state)`

const lag = `
SELECT q.queue, coalesce(extract(epoch FROM now() - (
  SELECT j.scheduled_at FROM river_job j WHERE j.state = 'available' AND j.queue = q.queue ORDER BY j.priority, j.scheduled_at LIMIT 1)), 0)::float8
FROM unnest($1::text[]) AS q (queue)`

// Figures are the queues of the whole cluster, for /metrics, on any process that has the database.
func Figures(database *sql.DB) metrics.Reader {
	names := pq.Array(slices.Sorted(maps.Keys(queues)))
	return func(ctx context.Context) ([]metrics.Value, error) {
		counted, err := values(ctx, database, metrics.JobsWaiting, figures, names, pq.Array(shown))
		if err != nil {
			return nil, err
		}
		late, err := values(ctx, database, metrics.JobsLag, lag, names)
		return append(counted, late...), err
	}
}

// values reads a row's values: its labels come first.
func values(ctx context.Context, database *sql.DB, row metrics.Row, query string, args ...any) ([]metrics.Value, error) {
	rows, err := database.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []metrics.Value
	for rows.Next() {
		v := metrics.Value{Row: row, Labels: make([]string, len(row.Labels))}
		into := make([]any, 0, len(row.Labels)+1)
		for i := range v.Labels {
			into = append(into, &v.Labels[i])
		}
		if err := rows.Scan(append(into, &v.Value)...); err != nil {
			return nil, err
		}
		v.Value = max(v.Value, 0)
		all = append(all, v)
	}
	return all, rows.Err()
}
