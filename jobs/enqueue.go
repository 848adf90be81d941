package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivertype"

	"stoa/graph/platform/db"
	"stoa/graph/platform/tracing"
)

// NewEnqueue makes the function by which domains ask for jobs, also on a process that works none.
func NewEnqueue(database *db.DB, clock *Clock, logger *slog.Logger) (db.Enqueue, error) {
	config := &river.Config{FetchCooldown: river.FetchCooldownMin, Logger: logger}
	client, err := river.NewClient(newInserter(database.Direct, clock), config)
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

// insertOpts are the queue of a job, its priority, if it has one, and, as its metadata, the trace of the request that asks for it, if
// it has one.
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

// inserter is River's driver over database/sql. That one inserts jobs at the time of the host; this one does at the database's.
type inserter struct {
	*riverdatabasesql.Driver
	clock *Clock
}

func newInserter(database *sql.DB, clock *Clock) inserter {
	return inserter{riverdatabasesql.New(database), clock}
}

// GetExecutor implements riverdriver.Driver.
func (i inserter) GetExecutor() riverdriver.Executor {
	return executor{i.Driver.GetExecutor(), i.clock}
}

// UnwrapExecutor implements riverdriver.Driver.
func (i inserter) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	return transaction{i.Driver.UnwrapExecutor(tx), i.clock}
}

// UnwrapTx implements riverdriver.Driver.
func (i inserter) UnwrapTx(tx riverdriver.ExecutorTx) *sql.Tx {
	if own, ok := tx.(transaction); ok {
		tx = own.ExecutorTx
	}
	return i.Driver.UnwrapTx(tx)
}

type executor struct {
	riverdriver.Executor
	clock *Clock
}

// Begin implements riverdriver.Executor.
func (e executor) Begin(ctx context.Context) (riverdriver.ExecutorTx, error) {
	return begin(ctx, e.Executor, e.clock)
}

// JobInsertFastMany implements riverdriver.Executor.
func (e executor) JobInsertFastMany(
	ctx context.Context, jobs *riverdriver.JobInsertFastManyParams,
) ([]*riverdriver.JobInsertFastResult, error) {
	return e.Executor.JobInsertFastMany(ctx, e.clock.stamp(jobs))
}

type transaction struct {
	riverdriver.ExecutorTx
	clock *Clock
}

// Begin implements riverdriver.Executor.
func (t transaction) Begin(ctx context.Context) (riverdriver.ExecutorTx, error) {
	return begin(ctx, t.ExecutorTx, t.clock)
}

// JobInsertFastMany implements riverdriver.Executor.
func (t transaction) JobInsertFastMany(
	ctx context.Context, jobs *riverdriver.JobInsertFastManyParams,
) ([]*riverdriver.JobInsertFastResult, error) {
	return t.ExecutorTx.JobInsertFastMany(ctx, t.clock.stamp(jobs))
}

func begin(ctx context.Context, e riverdriver.Executor, clock *Clock) (riverdriver.ExecutorTx, error) {
	tx, err := e.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return transaction{tx, clock}, nil
}

// stamp says of jobs that may begin at once since when.
func (c *Clock) stamp(jobs *riverdriver.JobInsertFastManyParams) *riverdriver.JobInsertFastManyParams {
	now := c.Now().UTC()
	for _, job := range jobs.Jobs {
		if job.ScheduledAt == nil {
			job.ScheduledAt = &now
		}
	}
	return jobs
}
