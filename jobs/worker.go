package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// row is one kind of job.
type row struct {
	kind   string
	queue  string
	period time.Duration
	args   river.JobArgs
	// register makes a worker of the job.
	register func(*river.Workers, Config) error
}

// job makes a row of the function that does the work.
func job[Args river.JobArgs](queue string, timeout, period time.Duration, do func(context.Context, Config, Args) error) row {
	var args Args
	return row{kind: args.Kind(), queue: queue, period: period, args: args, register: func(workers *river.Workers, c Config) error {
		return river.AddWorkerSafely(workers, &worker[Args]{timeout: timeout, slow: slowQueues[queue], config: c, do: do})
	}}
}

// periodic inserts the job once a period, however many processes take part, and whether or not an earlier one is stuck.
func (r row) periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(r.period), func() (river.JobArgs, *river.InsertOpts) {
		return r.args, &river.InsertOpts{Queue: r.queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: r.period}}
	}, &river.PeriodicJobOpts{ID: r.kind, RunOnStart: true})
}

// worker runs one kind of job.
type worker[Args river.JobArgs] struct {
	river.WorkerDefaults[Args]
	timeout time.Duration
	slow    bool
	config  Config
	do      func(context.Context, Config, Args) error
}

// Timeout implements river.Worker.
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
	ctx, end := tracing.Job(ctx, w.config.Tracer, job.Kind, traceOf(job.JobRow))
	outcome := metrics.Failed // also after a panic, unless it was the last attempt
	if job.Attempt >= job.MaxAttempts {
		outcome = metrics.Discarded
	}
	defer func() {
		w.config.Metrics.Jobs.Done(job.Kind, outcome, time.Since(began))
		end(err)
	}()
	if err = w.do(ctx, w.config, job.Args); err == nil {
		outcome = metrics.Completed
	}
	return err
}
