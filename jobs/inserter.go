package jobs

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

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
