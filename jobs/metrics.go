package jobs

import (
	"context"
	"embed"
	"maps"
	"slices"

	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

//go:embed jobs.sql
var files embed.FS

var named = db.Load(files).Named

// counted are the states whose jobs are counted: all but those that ended well.
var counted = pq.StringArray{"available", "running", "retryable", "scheduled", "discarded"}

// Metrics are the queues of the whole cluster, for /metrics, on any process that has the database.
func Metrics(database db.Querier) metrics.Reader {
	names := pq.StringArray(slices.Sorted(maps.Keys(queues)))
	return func(ctx context.Context) ([]metrics.Value, error) {
		waiting, err := db.All[struct {
			Queue string  `db:"queue"`
			State string  `db:"state"`
			Jobs  float64 `db:"jobs"`
		}](ctx, database, named("count_jobs"), names, counted)
		if err != nil {
			return nil, err
		}
		late, err := db.All[struct {
			Queue   string  `db:"queue"`
			Seconds float64 `db:"seconds"`
		}](ctx, database, named("jobs_lag"), names)
		if err != nil {
			return nil, err
		}
		var all []metrics.Value
		for _, r := range waiting {
			all = append(all, metrics.Value{Name: "stoa_jobs", Labels: []string{r.Queue, r.State}, Value: r.Jobs})
		}
		for _, r := range late {
			all = append(all, metrics.Value{Name: "stoa_jobs_oldest_available_seconds", Labels: []string{r.Queue}, Value: max(r.Seconds, 0)})
		}
		return all, nil
	}
}
