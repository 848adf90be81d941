package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// row is one kind of job. A period of 0 means that only mutations ask for it.
type row struct {
	kind    string
	queue   string
	timeout time.Duration
	period  time.Duration
	// register makes a worker of the job; nil if each process runs it by itself (tick).
	register func(*river.Workers, Config)
	tick     func(context.Context, Config) error
}

// job makes a row of a job that mutations ask for; do runs it.
func job[Args river.JobArgs](queue string, timeout time.Duration, do func(context.Context, Config, Args) error) row {
	var args Args
	return newRow(args, queue, timeout, do)
}

// periodic are the arguments of periodic jobs: they have only a kind.
type periodic struct{ kind string }

func (p periodic) Kind() string { return p.kind }

// every makes a row of a job that is inserted once a period, however many processes there are.
func every(period time.Duration, kind, queue string, timeout time.Duration, do func(context.Context, Config) error) row {
	made := newRow(periodic{kind}, queue, timeout, func(ctx context.Context, c Config, _ periodic) error { return do(ctx, c) })
	made.period = period
	return made
}

// tick makes a row of work that each process does once a period, without a queue: looking for work is cheaper than inserting a
// job, and goes on while River has no leader.
func tick(period time.Duration, kind string, timeout time.Duration, do func(context.Context, Config) error) row {
	return row{kind: kind, timeout: timeout, period: period, tick: do}
}

func newRow[Args river.JobArgs](args Args, queue string, timeout time.Duration, do func(context.Context, Config, Args) error) row {
	return row{kind: args.Kind(), queue: queue, timeout: timeout, register: func(workers *river.Workers, c Config) {
		river.AddWorkerArgs(workers, args, &worker[Args]{timeout: timeout, slow: slowQueues[queue], config: c, do: do})
	}}
}

// insertion inserts the job once a period, however many processes there are, even if an earlier one is stuck.
func (r row) insertion() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(r.period), func() (river.JobArgs, *river.InsertOpts) {
		return periodic{r.kind}, &river.InsertOpts{Queue: r.queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: r.period}}
	}, &river.PeriodicJobOpts{ID: r.kind, RunOnStart: true})
}

// startTicks runs rows of ticks until stop is called, one run of each at a time. It logs the first failure after a success. stop
// waits for running ones until its context ends.
func (c Config) startTicks(rows []row) (stop func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, r := range rows {
		running.Go(func() {
			ticker := time.NewTicker(r.period)
			defer ticker.Stop()
			for failed := false; ; {
				err := c.run(ctx, r)
				if err != nil && !failed && ctx.Err() == nil {
					c.Logger.ErrorContext(ctx, "a periodic job fails", "kind", r.kind, "error", err)
				}
				failed = err != nil
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
			}
		})
	}
	return func(bounded context.Context) {
		cancel()
		ended := make(chan struct{})
		go func() { running.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-bounded.Done():
		}
	}
}

// run runs a tick once. A panic is an error. A run without a database does not count: River runs nothing then either.
func (c Config) run(ctx context.Context, r row) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	began := time.Now()
	ctx, end := tracing.Job(ctx, c.Tracer, r.kind, tracing.Carried{})
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		switch {
		case err == nil:
			c.Metrics.Jobs.Done(time.Since(began), r.kind, metrics.Completed)
		case fault.From(err).Code != fault.ServiceUnavailable && !errors.Is(ctx.Err(), context.Canceled):
			c.Metrics.Jobs.Done(time.Since(began), r.kind, metrics.Discarded)
		}
		end(err)
	}()
	return r.tick(ctx, c)
}

// worker runs one kind of job.
type worker[Args river.JobArgs] struct {
	river.WorkerDefaults[Args]
	timeout time.Duration
	slow    bool
	config  Config
	do      func(context.Context, Config, Args) error
}

func (w *worker[Args]) Timeout(*river.Job[Args]) time.Duration { return w.timeout }

// NextRetry implements river.Worker: the next attempt follows soon, because a client waits for its result.
func (w *worker[Args]) NextRetry(job *river.Job[Args]) time.Time {
	return w.config.Clock.Now().Add(time.Duration(job.Attempt) * time.Second)
}

// Work implements river.Worker: it runs the job, counts how it ended, and continues the trace of the request that asked for it.
func (w *worker[Args]) Work(ctx context.Context, job *river.Job[Args]) (err error) {
	if w.slow {
		ctx = db.Patient(ctx)
	}
	began := time.Now()
	ctx, end := tracing.Job(ctx, w.config.Tracer, job.Kind, traceOf(job.Metadata))
	outcome := metrics.Failed // also after a panic, unless it was the last attempt
	if job.Attempt >= job.MaxAttempts {
		outcome = metrics.Discarded
	}
	defer func() {
		w.config.Metrics.Jobs.Done(time.Since(began), job.Kind, outcome)
		end(err)
	}()
	if err = w.do(ctx, w.config, job.Args); err == nil {
		outcome = metrics.Completed
	}
	return err
}

// NewEnqueue makes the function by which domains ask for jobs, also on a process that runs none.
func NewEnqueue(database *db.DB, clock *Clock, logger *slog.Logger) (db.Enqueue, error) {
	config := &river.Config{FetchCooldown: river.FetchCooldownMin, Logger: logger, Test: river.TestConfig{Time: insertClock{clock}}}
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
func traceOf(metadata []byte) tracing.Carried {
	var from tracing.Carried
	if json.Unmarshal(metadata, &from) != nil {
		return tracing.Carried{} // metadata of another program
	}
	return from
}

// insertClock makes River insert jobs at the database's time; it would take the host's.
type insertClock struct{ *Clock }

func (c insertClock) NowOrNil() *time.Time {
	now := c.Now().UTC()
	return &now
}
