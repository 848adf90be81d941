// Package jobs runs background work over River: one table of kinds of jobs, their queues, time limits and periods (table.go).
//
// A job calls a method of a domain and returns its error. It may run twice, or again after a crash, and does no harm. A job that
// a mutation asks for is inserted in its transaction (NewEnqueue), so it exists exactly when its cause does. Each process looks
// for the most frequent work by itself (tick), without a row of River. The other periodic jobs are inserted by one process of
// the cluster at a time, once a period, and run on any; one that fails or is cut off waits for the next period.
//
// While the database is unavailable nothing runs, and everything resumes by itself. When the process that inserts periodic jobs
// is killed, another takes its place within some 20 seconds; ticks go on meanwhile.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/jobs/inspection"
)

// Config holds the settings and dependencies of jobs.
type Config struct {
	Graph *graph.Graph
	// DB is the pool on which jobs are inserted, taken and finished.
	DB *db.DB
	// URL of the same database, for one connection that listens; it must not lead to a transaction pooler.
	URL    string
	Logger *slog.Logger
	// Metrics counts runs and inspections; nil counts nothing.
	Metrics *metrics.Metrics
	// Tracer goes on with the traces of requests that asked for a job; nil for none.
	Tracer trace.Tracer
	// Inspector inspects uploads; nil starts a child for each.
	Inspector *inspection.Inspector
	// BackUp makes a backup when one is due; nil if the process keeps none.
	BackUp func(context.Context) error

	// Clock is the database's time.
	Clock *Clock
}

const (
	jobTimeout    = time.Minute     // of a job whose row in the table sets no limit
	rescueAfter   = jobTimeout      // when a job whose process has died is run again, unless its own timeout is longer
	softStop      = 3 * time.Second // how long running jobs may continue after Stop before their context is cancelled
	keepCompleted = 4 * time.Hour   // shows some of the hourly jobs in the dashboard
	pollInterval  = 5 * time.Second // how long a job waits whose notification got lost; an idle server mostly polls its queues
)

// Jobs is a running worker of jobs.
type Jobs struct {
	client *river.Client[*sql.Tx]
	// stopped is closed when the client has stopped.
	stopped   <-chan struct{}
	stopTicks func(context.Context)
}

// Start begins to run jobs until Stop. The database must be there and migrated. ctx bounds only the start.
func Start(ctx context.Context, c Config) (*Jobs, error) { return start(ctx, c, pollInterval, table) }

// start runs all jobs, and repeats the jobs of repeated that have a period.
func start(ctx context.Context, c Config, poll time.Duration, repeated []row) (*Jobs, error) {
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	if c.Inspector == nil {
		c.Inspector = new(inspection.Inspector)
	}
	config := &river.Config{
		CompletedJobRetentionPeriod: keepCompleted,
		// With River's own cooldown notifications are dropped, and a job waits for the next poll.
		FetchCooldown:        river.FetchCooldownMin,
		FetchPollInterval:    poll,
		JobTimeout:           jobTimeout,
		Logger:               slog.New(riverLog{c.Logger.Handler()}),
		Queues:               make(map[string]river.QueueConfig, len(queues)),
		RescueStuckJobsAfter: rescueAfter,
		SoftStopTimeout:      softStop,
		Test:                 river.TestConfig{Time: c.Clock}, // River has no other setting for a clock
		Workers:              river.NewWorkers(),
	}
	for name, workers := range queues {
		config.Queues[name] = river.QueueConfig{MaxWorkers: workers}
	}
	for _, row := range table {
		for _, outcome := range []string{metrics.Completed, metrics.Failed, metrics.Discarded} {
			c.Metrics.Jobs.Expect(row.kind, outcome)
		}
		if row.register != nil {
			row.register(config.Workers, c)
		}
	}
	for _, kind := range ended {
		river.AddWorkerArgs(config.Workers, periodic{kind}, river.WorkFunc(func(context.Context, *river.Job[periodic]) error { return nil }))
	}
	var ticks []row
	for _, row := range repeated {
		switch {
		case row.tick != nil:
			ticks = append(ticks, row)
		case row.period > 0:
			config.PeriodicJobs = append(config.PeriodicJobs, row.insertion())
		}
	}
	client, err := river.NewClient(driver{riverdatabasesql.New(c.DB.Direct), &listener{database: c.DB.Direct, url: c.URL}}, config)
	if err == nil {
		err = client.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return &Jobs{client, client.Stopped(), c.startTicks(ticks)}, nil
}

// Stop takes no more jobs, waits for the running ones and cancels their context after 3 s. It returns ctx's error if ctx ends
// first.
func (j *Jobs) Stop(ctx context.Context) error {
	j.stopTicks(ctx)
	if err := j.client.Stop(ctx); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

var errStopped = errors.New("jobs: stopped")

// Healthy returns an error if this process does not run jobs, for /readyz. An unavailable database does not count.
func (j *Jobs) Healthy(context.Context) error {
	select {
	case <-j.stopped:
		return errStopped
	default:
		return nil
	}
}

// driver is River's driver over database/sql with a listener, so that jobs are inserted in the transactions of everything else
// and still begin at once.
type driver struct {
	*riverdatabasesql.Driver
	listener *listener
}

// SupportsListener implements riverdriver.Driver: River listens and polls.
func (d driver) SupportsListener() bool { return true }

func (d driver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener { return d.listener }

// listener gets River's notifications on a connection of its own. River calls Close and Connect by turns, and the other methods
// between them; WaitForNotification never runs at the same time as another one.
type listener struct {
	database *sql.DB
	url      string
	schema   string
	conn     *pq.ListenerConn
	notices  chan *pq.Notification
}

func (l *listener) Connect(ctx context.Context) (err error) {
	if err = l.database.QueryRowContext(ctx, "SELECT current_schema()").Scan(&l.schema); err != nil {
		return err
	}
	l.notices = make(chan *pq.Notification, 1000) // more than arrive during one statement
	if l.conn, err = db.Listen(l.url, l.notices); err != nil {
		return err
	}
	if err = db.Execute(l.conn, "SET application_name = 'stoa jobs'"); err != nil {
		_ = l.Close(ctx)
	}
	return err
}

func (l *listener) Close(context.Context) error {
	_ = l.conn.Close() // it may be closed already
	for range l.notices {
	}
	return nil
}

func (l *listener) Ping(context.Context) error { return db.Execute(l.conn, "") }

func (l *listener) Listen(_ context.Context, topic string) error {
	return db.Execute(l.conn, "LISTEN "+pq.QuoteIdentifier(l.schema+"."+topic))
}

func (l *listener) Unlisten(_ context.Context, topic string) error {
	return db.Execute(l.conn, "UNLISTEN "+pq.QuoteIdentifier(l.schema+"."+topic))
}

func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case notice, open := <-l.notices:
		if !open {
			return nil, l.conn.Err()
		}
		return &riverdriver.Notification{Topic: strings.TrimPrefix(notice.Channel, l.schema+"."), Payload: notice.Extra}, nil
	}
}

func (l *listener) Schema() string { return l.schema }

// SetAfterConnectExec implements riverdriver.Listener for River's own tests.
func (*listener) SetAfterConnectExec(string) {}

// riverLog leaves out River's information: it counts jobs every few seconds. River derives no other handler from it.
type riverLog struct{ slog.Handler }

func (l riverLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level != slog.LevelInfo && l.Handler.Enabled(ctx, level)
}

// clockInterval is how often the clock is compared with the database's: two good clocks drift apart by less than 10 ms in it.
const clockInterval = time.Minute

// Clock gives River the database's time instead of the host's. River writes when a job begins and when it is tried again, which
// other processes and the database read: a host whose clock is an hour ahead would delay every job by an hour. Between two
// comparisons it uses the host's monotonic clock, so setting the host's clock does not move it. Safe for concurrent use.
type Clock struct{ compared atomic.Pointer[comparison] }

// comparison is a moment on the host's clock, and how far the database's was ahead of it then.
type comparison struct {
	host  time.Time
	ahead time.Duration
}

// NewClock compares the clock once, and then every minute until ctx ends.
func NewClock(ctx context.Context, database *sql.DB) (*Clock, error) {
	c := new(Clock)
	if err := c.compare(ctx, database); err != nil {
		return nil, err
	}
	go c.keep(ctx, database)
	return c, nil
}

func (c *Clock) compare(ctx context.Context, database *sql.DB) error {
	var there time.Time
	if err := database.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return fmt.Errorf("compare the clock: %w", err)
	}
	// A reported time is older than its arrival, so the clock is rather behind than ahead. If it were ahead, a job that is due
	// now would wait for the next poll.
	host := time.Now()
	c.compared.Store(&comparison{host, there.Sub(host.Round(0))}) // without its monotonic reading, which the database's has not
	return nil
}

// keep compares the clock until ctx ends. While the database is away, the last comparison stays.
func (c *Clock) keep(ctx context.Context, database *sql.DB) {
	for ticker := time.NewTicker(clockInterval); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
			_ = c.compare(ctx, database) // the next comparison comes in a minute
		}
	}
}

func (c *Clock) Now() time.Time {
	last := c.compared.Load()
	return last.host.Add(time.Since(last.host) + last.ahead)
}

// NowOrNil implements rivertype.TimeGenerator: statements take the database's time by themselves.
func (*Clock) NowOrNil() *time.Time { return nil }
