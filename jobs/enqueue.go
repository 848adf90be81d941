package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"stoa/graph/platform/db"
)

// NewEnqueue makes the function by which domains ask for jobs, also on a process that works none.
func NewEnqueue(database *db.DB, logger *slog.Logger) (db.Enqueue, error) {
	client, err := river.NewClient(riverdatabasesql.New(database.SQL), &river.Config{FetchCooldown: river.FetchCooldownMin, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	byKind := make(map[string]string, len(table))
	for _, row := range table {
		byKind[row.kind] = row.queue
	}
	return func(ctx context.Context, tx *db.Tx, job db.Job) error {
		_, err := client.InsertTx(ctx, tx.SQL, job, asking(ctx, byKind[job.Kind()]))
		return err
	}, nil
}
