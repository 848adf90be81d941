package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivertype"

	"stoa/graph/platform/db"
	"stoa/graph/platform/tracing"
)

// NewEnqueue makes the function by which domains ask for jobs, also on a process that runs none.
func NewEnqueue(database *db.DB, clock *Clock, logger *slog.Logger) (db.Enqueue, error) {
	config := &river.Config{FetchCooldown: river.FetchCooldownMin, Logger: logger, Hooks: byDatabase(clock)}
	client, err := river.NewClient(riverdatabasesql.New(database.Direct), config)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	byKind := make(map[string]string, len(table))
	for _, row := range table {
		byKind[row.kind] = row.queue
	}
	return func(ctx context.Context, tx *db.Tx, job db.Job) error {
		_, err := client.InsertTx(ctx, tx.SQL.Tx, job, insertOpts(ctx, byKind[job.Kind()], job))
		return err
	}, nil
}

// insertOpts returns the queue of a job, its priority if it has one, and as metadata the trace of the request that asks for the
// job, if there is a trace.
func insertOpts(ctx context.Context, queue string, job db.Job) *river.InsertOpts {
	options := &river.InsertOpts{Queue: queue}
	if urgent, ok := job.(interface{ Priority() int }); ok {
		options.Priority = urgent.Priority()
	}
	if from := tracing.Carry(ctx); from.Parent != "" {
		if raw, err := json.Marshal(from); err == nil {
			options.Metadata = raw
		}
	}
	return options
}

// traceOf reads the trace that insertOpts wrote.
func traceOf(job *rivertype.JobRow) tracing.Carried {
	var from tracing.Carried
	if json.Unmarshal(job.Metadata, &from) != nil {
		return tracing.Carried{} // metadata of another program
	}
	return from
}

// byDatabase inserts jobs at the database's time; River would take the host's.
func byDatabase(clock *Clock) []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		if job.ScheduledAt == nil {
			now := clock.Now().UTC()
			job.ScheduledAt = &now
		}
		return nil
	})}
}
