package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"stoa/graph/attachments"
	"stoa/graph/email"
	"stoa/graph/owners"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/search"
	"stoa/graph/platform/tracing"
	"stoa/graph/wallet"
	"stoa/graph/webhooks"
)

// The queues and how many jobs of each a process works at the same time. Short jobs must not wait behind long ones.
const (
	promptQueue      = "prompt"
	maintenanceQueue = "maintenance"
	inspectionQueue  = "inspection"
	publicationQueue = "publication"
	mailQueue        = "mail"
	backupQueue      = "backup"
	// The queues of the classes of webhooks: an endpoint of a light or busy one holds a worker for 2 s at most as a rule, one of a
	// slow one for up to 15 s. Their workers wait for the network and hold no connection to the database meanwhile.
	webhookQueue     = "webhook"
	busyWebhookQueue = "busy_webhook"
	slowWebhookQueue = "slow_webhook"
)

var queues = map[string]int{
	promptQueue: 3, maintenanceQueue: 1, inspectionQueue: 4, publicationQueue: 3, mailQueue: 4, backupQueue: 1,
	webhookQueue: 16, busyWebhookQueue: 16, slowWebhookQueue: 16,
}

const (
	// inspectionTime bounds an inspection, waiting included; if it is exceeded, the inspection begins again (§4.8).
	inspectionTime = 10 * time.Minute
	// maxMissing is after how long the job of missing copies leaves the rest to its next run.
	maxMissing = 4 * time.Minute
)

// slowQueues are the queues whose statements may take longer than a request's.
var slowQueues = map[string]bool{maintenanceQueue: true, backupQueue: true}

// The arguments of jobs that need none; the domains have those of the others.
type (
	deliverJob   struct{}
	recoverJob   struct{}
	queueJob     struct{}
	feedJob      struct{}
	mergeJob     struct{}
	cleanupJob   struct{}
	orphansJob   struct{}
	reconcileJob struct{}
	lifecycleJob struct{}
	activityJob  struct{}
	backupJob    struct{}
	copiesJob    struct{}
)

// Kind implements river.JobArgs.
func (deliverJob) Kind() string { return "deliver" }

// Kind implements river.JobArgs.
func (recoverJob) Kind() string { return "recover" }

// Kind implements river.JobArgs.
func (queueJob) Kind() string { return "queue_webhooks" }

// Kind implements river.JobArgs.
func (feedJob) Kind() string { return "feed" }

// Kind implements river.JobArgs.
func (mergeJob) Kind() string { return "merge_search" }

// Kind implements river.JobArgs.
func (cleanupJob) Kind() string { return "cleanup" }

// Kind implements river.JobArgs.
func (orphansJob) Kind() string { return "orphans" }

// Kind implements river.JobArgs.
func (reconcileJob) Kind() string { return "reconcile" }

// Kind implements river.JobArgs.
func (lifecycleJob) Kind() string { return "lifecycle" }

// Kind implements river.JobArgs.
func (activityJob) Kind() string { return "activity" }

// Kind implements river.JobArgs.
func (backupJob) Kind() string { return "backup" }

// Kind implements river.JobArgs.
func (copiesJob) Kind() string { return "missing_copies" }

// table is every kind of job: its queue, its time limit, how often it is inserted (0: by mutations only), and what it does.
var table = []row{
	// Wakes the agents that are connected and have unacknowledged events, in case that a wake-up was lost, and starts the webhook
	// deliveries that are due.
	job(promptQueue, 5*time.Second, time.Second, func(ctx context.Context, c Config, _ deliverJob) error {
		_, err := c.Graph.Events.WakeWaiting(ctx)
		return errors.Join(err, c.Graph.Webhooks.Queue(ctx, webhooks.Scope{Recent: true}))
	}),
	// Finds the events that webhooks have missed, such as those of an agent that was restored.
	job(promptQueue, 30*time.Second, time.Minute, func(ctx context.Context, c Config, _ queueJob) error {
		return c.Graph.Webhooks.Queue(ctx, webhooks.Scope{})
	}),
	// Deliver to a webhook of each class.
	job(webhookQueue, time.Minute, 0, func(ctx context.Context, c Config, args webhooks.DeliverJob) error {
		return c.Graph.Webhooks.Deliver(ctx, args.WebhookID, webhooks.Light)
	}),
	job(busyWebhookQueue, time.Minute, 0, func(ctx context.Context, c Config, args webhooks.DeliverBusyJob) error {
		return c.Graph.Webhooks.Deliver(ctx, args.WebhookID, webhooks.Busy)
	}),
	job(slowWebhookQueue, time.Minute, 0, func(ctx context.Context, c Config, args webhooks.DeliverSlowJob) error {
		return c.Graph.Webhooks.Deliver(ctx, args.WebhookID, webhooks.Slow)
	}),
	// Asks again for the inspections, public copies and mails that a crash cut off.
	job(promptQueue, 30*time.Second, 5*time.Second, func(ctx context.Context, c Config, _ recoverJob) error {
		_, failed := c.Graph.Attachments.Recover(ctx)
		_, err := c.Graph.Email.Recover(ctx)
		return errors.Join(failed, err)
	}),
	// Adds to the feed, or deletes there, the posts of prolific authors who were shown or hidden.
	job(promptQueue, 30*time.Second, 2*time.Second, func(ctx context.Context, c Config, _ feedJob) error {
		_, err := c.Graph.Posts.SettleFeed(ctx)
		return err
	}),
	// Merges the texts that were written into the indexes of the searches.
	job(promptQueue, 30*time.Second, 2*time.Second, func(ctx context.Context, c Config, _ mergeJob) error {
		_, err := search.Merge(ctx, c.DB.SQL)
		return err
	}),
	// An inspection waits for a slot and then for its child, both as long as the machine is busy.
	job(inspectionQueue, inspectionTime, 0, func(ctx context.Context, c Config, args attachments.InspectJob) error {
		return c.Graph.Attachments.Inspect(ctx, args.AttachmentID, c.inspect)
	}),
	job(publicationQueue, inspectionTime, 0, func(ctx context.Context, c Config, args attachments.PublishJob) error {
		return c.Graph.Attachments.Publish(ctx, args.AttachmentID, c.inspect)
	}),
	// Makes the public copies of files that an earlier version published.
	job(publicationQueue, inspectionTime, 5*time.Minute, func(ctx context.Context, c Config, _ copiesJob) error {
		n, err := c.Graph.Attachments.MakeMissingCopies(ctx, c.inspect, time.Now().Add(maxMissing))
		c.logCount(ctx, "missing public copies made", n)
		return err
	}),
	// Sends a mail. One that was not accepted is tried again after a wait that grows; River does not count these attempts.
	job(mailQueue, time.Minute, 0, func(ctx context.Context, c Config, args email.SendJob) error {
		again, err := c.Graph.Email.Deliver(ctx, args.MailID)
		if err != nil {
			return errors.Join(err, river.JobSnooze(again))
		}
		return nil
	}),
	// Checks whether the address of a restore request is the agent's owner's, and mails the link.
	job(mailQueue, time.Minute, 0, func(ctx context.Context, c Config, args owners.RestoreJob) error {
		return c.Graph.Owners.ExamineRestore(ctx, args.RestoreID)
	}),
	job(maintenanceQueue, 4*time.Minute, 5*time.Minute, cleanUp),
	job(maintenanceQueue, 30*time.Minute, time.Hour, func(ctx context.Context, c Config, _ orphansJob) error {
		n, err := c.Graph.Attachments.DeleteOrphans(ctx)
		c.logCount(ctx, "orphaned files deleted", n)
		return err
	}),
	job(maintenanceQueue, 30*time.Minute, time.Hour, ledgerReport),
	// Moves inactive agents to the trash and on. It does nothing until an operator activates the lifecycle.
	job(maintenanceQueue, 10*time.Minute, time.Hour, func(ctx context.Context, c Config, _ lifecycleJob) error {
		done, err := c.Graph.Lifecycle.Run(ctx)
		c.logCount(ctx, "inactive agents moved to the trash", done.Trashed)
		c.logCount(ctx, "owners of agents in the trash notified", done.Notified)
		c.logCount(ctx, "agents deleted", done.Deleted)
		return err
	}),
	// Grants an agent what it has just earned.
	job(promptQueue, 30*time.Second, 0, func(ctx context.Context, c Config, args wallet.RewardJob) error {
		_, err := c.Graph.Wallet.GrantReward(ctx, args.BotID)
		return err
	}),
	// Grants all agents the rewards that they have earned, once rewards are switched on. Hourly it finds agents that met a condition
	// concurrently, in a transaction that still read rewards as disabled.
	job(maintenanceQueue, 10*time.Minute, time.Hour, func(ctx context.Context, c Config, _ wallet.RewardsJob) error {
		n, err := c.Graph.Wallet.GrantRewards(ctx)
		c.logCount(ctx, "rewards granted", n)
		return err
	}),
	// Counts the last minutes for the operators' overview.
	job(promptQueue, 30*time.Second, time.Minute, func(ctx context.Context, c Config, _ activityJob) error {
		return c.Graph.Operator.RecordActivity(ctx)
	}),
	// Makes a backup when one is due.
	job(backupQueue, 6*time.Hour, time.Hour, func(ctx context.Context, c Config, _ backupJob) error {
		if c.BackUp == nil {
			return nil
		}
		return c.BackUp(ctx)
	}),
}

// logCount logs how much a job did, unless that is nothing.
func (c Config) logCount(ctx context.Context, done string, n int64) {
	if n > 0 {
		c.Logger.InfoContext(ctx, done, "count", n)
	}
}

// cleanUp deletes records past their retention. One sweep that fails does not keep the others from running.
func cleanUp(ctx context.Context, c Config, _ cleanupJob) error {
	var failed []error
	for _, r := range c.Graph.Operator.Kept {
		if r.Sweep == nil {
			continue
		}
		n, err := r.Sweep(ctx)
		if n > 0 {
			c.Logger.InfoContext(ctx, "cleaned up", "sweep", r.Name, "deleted", n)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return errors.Join(failed...)
}

// maxReconcile is after how long ledgerReport leaves the rest to its next run; its slices last a second or so.
const maxReconcile = 20 * time.Minute

// ledgerReport checks the ledger: what is new at each run, and everything once a day, in slices that any process may continue. A
// discrepancy is a defect or a break-in: it is logged as an error, each time anew, and kept for /metrics of every process.
func ledgerReport(ctx context.Context, c Config, _ reconcileJob) error {
	end := time.Now().Add(maxReconcile)
	for _, scope := range wallet.Scopes() {
		for over := false; !over && time.Now().Before(end); {
			var (
				found []wallet.Discrepancy
				err   error
			)
			if found, over, err = c.Graph.Wallet.ContinueCheck(ctx, scope); err != nil {
				return err
			}
			for _, d := range found {
				c.Logger.ErrorContext(ctx, "the ledger does not balance", "scope", scope, "check", d.Check, "bot_id", d.BotID,
					"transaction_id", d.TransactionID, "expected", d.Expected, "found", d.Found)
			}
		}
	}
	return nil
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
		ctx = db.WithStatementTimeout(ctx, db.MaintenanceTimeout)
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

// NewEnqueue makes the function by which domains ask for jobs, also on a process that works none.
func NewEnqueue(database *db.DB, clock *Clock, logger *slog.Logger) (db.Enqueue, error) {
	config := &river.Config{FetchCooldown: river.FetchCooldownMin, Logger: logger}
	client, err := river.NewClient(newInserter(database.SQL, clock), config)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	byKind := make(map[string]string, len(table))
	for _, row := range table {
		byKind[row.kind] = row.queue
	}
	return func(ctx context.Context, tx *db.Tx, job db.Job) error {
		_, err := client.InsertTx(ctx, tx.SQL, job, insertOpts(ctx, byKind[job.Kind()], job))
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
