package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
)

// The queues and how many jobs of each a process works at the same time. Work that waits for nothing must not wait behind work
// that takes long.
const (
	promptQueue      = "prompt"
	maintenanceQueue = "maintenance"
	inspectionQueue  = "inspection"
	publicationQueue = "publication"
	backupQueue      = "backup"
)

var queues = map[string]int{promptQueue: 3, maintenanceQueue: 1, inspectionQueue: 4, publicationQueue: 2, backupQueue: 1}

// unhurried are the queues whose jobs may take longer for a statement than a request may.
var unhurried = map[string]bool{maintenanceQueue: true, backupQueue: true}

// table is every kind of job: where it is worked, what it may take, how often it is asked for (0: by mutations only), and what it
// does.
var table = []row{
	job(promptQueue, 5*time.Second, time.Second, deliver),
	job(promptQueue, 30*time.Second, 5*time.Second, recoverUploads),
	job(promptQueue, 30*time.Second, 2*time.Second, settleFeed),
	job(inspectionQueue, 2*time.Minute, 0, inspect),
	job(publicationQueue, 2*time.Minute, 0, publish),
	job(maintenanceQueue, 4*time.Minute, 5*time.Minute, cleanup),
	job(maintenanceQueue, 30*time.Minute, time.Hour, sweepStrays),
	job(maintenanceQueue, 30*time.Minute, time.Hour, reconcile),
	job(maintenanceQueue, 10*time.Minute, time.Hour, moveInactive),
	job(maintenanceQueue, 10*time.Minute, time.Hour, grantRewards),
	job(backupQueue, 6*time.Hour, time.Hour, backUp),
}

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
		return river.AddWorkerSafely(workers, &worker[Args]{timeout: timeout, unhurried: unhurried[queue], config: c, do: do})
	}}
}

// periodic asks for the job once a period, however many processes take part, and whether or not an earlier one is stuck.
func (r row) periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(r.period), func() (river.JobArgs, *river.InsertOpts) {
		return r.args, &river.InsertOpts{Queue: r.queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: r.period}}
	}, &river.PeriodicJobOpts{ID: r.kind, RunOnStart: true})
}

// worker runs one kind of job.
type worker[Args river.JobArgs] struct {
	river.WorkerDefaults[Args]
	timeout   time.Duration
	unhurried bool
	config    Config
	do        func(context.Context, Config, Args) error
}

// Timeout implements river.Worker.
func (w *worker[Args]) Timeout(*river.Job[Args]) time.Duration { return w.timeout }

// NextRetry implements river.Worker: the next attempt follows soon, because a client waits for what it brings about.
func (w *worker[Args]) NextRetry(job *river.Job[Args]) time.Time {
	return time.Now().Add(time.Duration(job.Attempt) * time.Second)
}

// Work implements river.Worker.
func (w *worker[Args]) Work(ctx context.Context, job *river.Job[Args]) error {
	if w.unhurried {
		ctx = db.WithStatementTimeout(ctx, db.MaintenanceTimeout)
	}
	return observed(ctx, w.config, job.JobRow, func(ctx context.Context) error { return w.do(ctx, w.config, job.Args) })
}

// The arguments of jobs that need none; those of the others are the domains'.
type (
	deliverJob   struct{}
	recoverJob   struct{}
	feedJob      struct{}
	cleanupJob   struct{}
	straysJob    struct{}
	reconcileJob struct{}
	lifecycleJob struct{}
	rewardsJob   struct{}
	backupJob    struct{}
	inspectJob   = attachments.InspectJob
	publishJob   = attachments.PublishJob
)

// Kind names the job.
func (deliverJob) Kind() string { return "deliver" }

// Kind names the job.
func (recoverJob) Kind() string { return "recover" }

// Kind names the job.
func (feedJob) Kind() string { return "feed" }

// Kind names the job.
func (cleanupJob) Kind() string { return "cleanup" }

// Kind names the job.
func (straysJob) Kind() string { return "strays" }

// Kind names the job.
func (reconcileJob) Kind() string { return "reconcile" }

// Kind names the job.
func (lifecycleJob) Kind() string { return "lifecycle" }

// Kind names the job.
func (rewardsJob) Kind() string { return "rewards" }

// Kind names the job.
func (backupJob) Kind() string { return "backup" }
