// Package jobs is what need not be done while a client waits: one table of workers and periods over River.
//
// A worker is thin: it calls a method of a domain and reports what went wrong. Every job may run twice, or again after a crash,
// and does no harm. A job that a mutation asks for is a row of its transaction (Enqueue), so it exists exactly when its cause does.
// Periodic jobs are asked for by one process of the cluster at a time, once a period, and run on any; one that fails or is cut off is
// not tried again, because the next period comes.
//
// While the database is away nothing runs, and everything resumes by itself. When the process that asks for periodic jobs is
// killed, another takes its place within some 20 seconds.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/jobs/inspection"
)

// Config is what jobs need.
type Config struct {
	Graph *graph.Graph
	// DB is the pool on which jobs are asked for, taken and finished.
	DB *db.DB
	// URL of the same database, for one connection that listens; not that of a transaction pooler.
	URL    string
	Logger *slog.Logger
	// Metrics counts runs and verdicts; nil counts nothing.
	Metrics *metrics.Metrics
	// Tracer goes on with the traces of requests that asked for a job; nil for none.
	Tracer trace.Tracer
	// Inspector judges uploads; nil starts a child for each.
	Inspector *inspection.Inspector
	// BackUp makes a backup when one is due; nil where the process keeps none.
	BackUp func(context.Context) error
}

const (
	// rescueAfter is when a job counts as lost whose process has died, unless its own timeout is longer.
	rescueAfter = 5 * time.Minute
	// jobTimeout is what a job may take whose row in the table does not say.
	jobTimeout = time.Minute
	// softStop is how long jobs in hand may go on after Stop before they are told to end.
	softStop = 3 * time.Second
	// keepCompleted is short, because a job a second leaves a row each; the dashboard shows some of the hourly ones.
	keepCompleted = 4 * time.Hour
	// pollInterval is how long a job waits of which no notice came.
	pollInterval = time.Second
)

// Jobs is a running worker of jobs.
type Jobs struct {
	client *river.Client[*sql.Tx]
	// stopped is closed when the client has stopped.
	stopped  <-chan struct{}
	listener *pgxpool.Pool
}

// Start begins to work jobs until Stop. The database must be there and migrated. ctx bounds nothing but the start.
func Start(ctx context.Context, c Config) (*Jobs, error) { return start(ctx, c, pollInterval) }

func start(ctx context.Context, c Config, poll time.Duration) (*Jobs, error) {
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	if c.Inspector == nil {
		c.Inspector = new(inspection.Inspector)
	}
	driver, listener, err := newDriver(c.DB.SQL, c.URL)
	if err != nil {
		return nil, err
	}
	config := &river.Config{
		CompletedJobRetentionPeriod: keepCompleted,
		// With River's own cooldown notices are dropped, and a job waits for the next poll.
		FetchCooldown:        river.FetchCooldownMin,
		FetchPollInterval:    poll,
		JobTimeout:           jobTimeout,
		Logger:               slog.New(riverLog{c.Logger.Handler()}),
		Queues:               make(map[string]river.QueueConfig, len(queues)),
		RescueStuckJobsAfter: rescueAfter,
		SoftStopTimeout:      softStop,
		Workers:              river.NewWorkers(),
	}
	for name, workers := range queues {
		config.Queues[name] = river.QueueConfig{MaxWorkers: workers}
	}
	for _, row := range table {
		c.Metrics.Jobs.Expect(row.kind)
		if err := row.register(config.Workers, c); err != nil {
			listener.Close()
			return nil, fmt.Errorf("jobs: %w", err)
		}
		if row.period > 0 {
			config.PeriodicJobs = append(config.PeriodicJobs, row.periodic())
		}
	}
	client, err := river.NewClient(driver, config)
	if err == nil {
		err = client.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return &Jobs{client: client, stopped: client.Stopped(), listener: listener}, nil
}

// Stop takes no more jobs, waits for those in hand and tells them to end after 3 s. It returns ctx's error when ctx ends first.
func (j *Jobs) Stop(ctx context.Context) error {
	if err := j.client.Stop(ctx); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	j.listener.Close()
	return nil
}

var errStopped = errors.New("jobs: stopped")

// Healthy tells whether this process works jobs, for /readyz. That the database is away is not for it to say.
func (j *Jobs) Healthy(context.Context) error {
	select {
	case <-j.stopped:
		return errStopped
	default:
		return nil
	}
}
