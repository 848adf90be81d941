package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"stoa/graph/attachments"
	"stoa/graph/email"
	"stoa/graph/exports"
	"stoa/graph/owners"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
	"stoa/graph/webhooks"
)

// The queues and how many jobs of each a process works at the same time. Short jobs must not wait behind long ones.
const (
	promptQueue      = "prompt"
	maintenanceQueue = "maintenance"
	inspectionQueue  = "inspection"
	mailQueue        = "mail"
	backupQueue      = "backup"
	exportQueue      = "export"
	// A prompt endpoint of a webhook usually holds a worker for at most 2 s, any other for up to 15 s. Half of the workers serve
	// only prompt endpoints (webhooks.API.Deliver). While workers wait for the network, they hold no connection to the database.
	webhookQueue = "webhook"
)

var queues = map[string]int{
	promptQueue: 3, maintenanceQueue: 1, inspectionQueue: 4, mailQueue: 4, backupQueue: 1, exportQueue: 1,
	webhookQueue: 32,
}

const (
	// inspectionTime bounds an inspection, waiting included; if it is exceeded, the inspection begins again (§4.8).
	inspectionTime = 10 * time.Minute
	// maxMissing is the time after which the job of missing copies leaves the rest to its next run.
	maxMissing = time.Minute
)

// slowQueues are the queues whose statements may take longer than a request's.
var slowQueues = map[string]bool{maintenanceQueue: true, backupQueue: true, exportQueue: true}

// table lists every kind of job: jobs of each process (tick), jobs of the cluster (every), and jobs that mutations ask for
// (job), each with its queue, time limit and work.
var table = []row{
	// Wakes the agents that are connected and have unacknowledged events, in case a wake-up was lost, and starts the webhook
	// deliveries that are due.
	tick(time.Second, "deliver", 5*time.Second, func(ctx context.Context, c Config) error {
		_, err := c.Graph.Events.WakeWaiting(ctx)
		return errors.Join(err, c.Graph.Webhooks.Queue(ctx, webhooks.Scope{Recent: true}))
	}),
	// Signs the receipts of orders that closed and the documents of ratings, appends waiting entries to the key log, announces
	// the receipts that have their proof, and submits the head to the witnesses that have not signed it, and each hour to all.
	tick(time.Second, "log", 30*time.Second, func(ctx context.Context, c Config) error {
		waits, err := c.Graph.Receipts.WorkWaits(ctx)
		if err != nil || !waits {
			return errors.Join(err, cosign(ctx, c))
		}
		_, unsigned := c.Graph.Receipts.Sign(ctx)
		_, err = c.Graph.KeyLog.Sequence(ctx)
		_, unannounced := c.Graph.Receipts.Announce(ctx)
		return errors.Join(unsigned, err, unannounced, cosign(ctx, c))
	}),
	// Finds events that webhooks have missed, such as the events of an agent that was restored.
	every(time.Minute, "queue_webhooks", promptQueue, 30*time.Second, func(ctx context.Context, c Config) error {
		return c.Graph.Webhooks.Queue(ctx, webhooks.Scope{})
	}),
	// Delivers to a webhook.
	job(webhookQueue, time.Minute, func(ctx context.Context, c Config, args webhooks.DeliverJob) error {
		return c.Graph.Webhooks.Deliver(ctx, args.WebhookID)
	}),
	// Analyzes tables that fill quickly, so that no statement keeps the plan of an empty table.
	tick(10*time.Second, "analyze", 10*time.Minute, analyzeGrown),
	// Asks again for the inspections and mails that a crash cut off, and adds to the feed, or deletes there, the posts of
	// prolific authors who were shown or hidden.
	tick(3*time.Second, "recover", 30*time.Second, func(ctx context.Context, c Config) error {
		_, uploads := c.Graph.Attachments.Recover(ctx)
		_, mails := c.Graph.Email.Recover(ctx)
		_, err := c.Graph.Posts.SettleFeed(ctx)
		return errors.Join(uploads, mails, err)
	}),
	// An inspection waits for a slot and then for its child, both as long as the machine is busy.
	job(inspectionQueue, inspectionTime, func(ctx context.Context, c Config, args attachments.InspectJob) error {
		return c.Graph.Attachments.Inspect(ctx, args.AttachmentID, c.inspect)
	}),
	// Makes the public copies of files that an earlier version accepted without making them.
	every(5*time.Minute, "missing_copies", maintenanceQueue, inspectionTime, func(ctx context.Context, c Config) error {
		n, err := c.Graph.Attachments.MakeMissingCopies(ctx, c.inspect, time.Now().Add(maxMissing))
		c.logCount(ctx, "missing public copies made", n)
		return err
	}),
	// Sends a mail. A mail that was not accepted is tried again after a growing wait; River does not count these attempts.
	job(mailQueue, time.Minute, func(ctx context.Context, c Config, args email.SendJob) error {
		again, err := c.Graph.Email.Deliver(ctx, args.MailID)
		if err != nil {
			return errors.Join(err, river.JobSnooze(again))
		}
		return nil
	}),
	// Checks whether the address of a restore request is the agent's owner's, and mails the link.
	job(mailQueue, time.Minute, func(ctx context.Context, c Config, args owners.RestoreJob) error {
		return c.Graph.Owners.ExamineRestore(ctx, args.RestoreID)
	}),
	// The same for requests that owners make on their pages.
	job(mailQueue, time.Minute, func(ctx context.Context, c Config, args owners.RequestJob) error {
		return c.Graph.Owners.ExamineRequest(ctx, args.RequestID)
	}),
	every(5*time.Minute, "cleanup", maintenanceQueue, 4*time.Minute, cleanUp),
	every(time.Hour, "orphans", maintenanceQueue, 30*time.Minute, func(ctx context.Context, c Config) error {
		n, err := c.Graph.Attachments.DeleteOrphans(ctx)
		c.logCount(ctx, "orphaned files deleted", n)
		return err
	}),
	every(time.Hour, "reconcile", maintenanceQueue, 30*time.Minute, ledgerReport),
	// Moves inactive agents to the trash and then deletes them, once an operator has activated the lifecycle, and clears
	// statistics and indexes of deleted data.
	every(time.Hour, "lifecycle", maintenanceQueue, 10*time.Minute, func(ctx context.Context, c Config) error {
		done, err := c.Graph.Lifecycle.Run(ctx)
		c.logCount(ctx, "inactive agents moved to the trash", done.Trashed)
		c.logCount(ctx, "owners of agents in the trash notified", done.Notified)
		c.logCount(ctx, "agents deleted", done.Deleted)
		return errors.Join(err, c.Graph.Lifecycle.ClearTraces(ctx))
	}),
	// Makes an archive that an agent or its owner has asked for.
	job(exportQueue, 50*time.Minute, func(ctx context.Context, c Config, args exports.Job) error {
		return c.Graph.Exports.Make(ctx, args.ExportID)
	}),
	// Continues the erasures that agents and owners have asked for.
	every(15*time.Second, "erase", promptQueue, time.Minute, func(ctx context.Context, c Config) error {
		n, err := c.Graph.Lifecycle.Erase(ctx)
		c.logCount(ctx, "agents erased at their request", n)
		return err
	}),
	// Notifies the agents that watch for a new task.
	job(promptQueue, 30*time.Second, func(ctx context.Context, c Config, args tasks.AnnounceJob) error {
		return c.Graph.Tasks.Announce(ctx, args.TaskID)
	}),
	// Grants an agent the rewards that it has just earned.
	job(promptQueue, 30*time.Second, func(ctx context.Context, c Config, args wallet.RewardJob) error {
		_, err := c.Graph.Wallet.GrantReward(ctx, args.BotID)
		return err
	}),
	// Grants all agents the rewards that they have earned, once rewards are switched on. Hourly it finds agents that met a
	// condition concurrently, in a transaction that still read rewards as disabled.
	every(time.Hour, wallet.RewardsJob{}.Kind(), maintenanceQueue, 10*time.Minute, func(ctx context.Context, c Config) error {
		n, err := c.Graph.Wallet.GrantRewards(ctx)
		c.logCount(ctx, "rewards granted", n)
		return err
	}),
	// Adds the receipts of orders that closed before an upgrade.
	every(24*time.Hour, "missing_receipts", maintenanceQueue, 30*time.Minute, func(ctx context.Context, c Config) error {
		return c.Graph.Receipts.AddMissing(ctx)
	}),
	// Counts the last minutes for the operators' overview. The alert StoaJobsNotRunning fires if no process runs this job.
	every(time.Minute, "activity", promptQueue, 30*time.Second, func(ctx context.Context, c Config) error {
		return c.Graph.Operator.RecordActivity(ctx)
	}),
	// Makes a backup when one is due.
	every(time.Hour, "backup", backupQueue, 6*time.Hour, func(ctx context.Context, c Config) error {
		if c.BackUp == nil {
			return nil
		}
		return c.BackUp(ctx)
	}),
}

// ended lists the kinds of jobs that a process of an earlier version inserts: ticks do their work, or nothing needs it any more,
// and a kind without a worker would fail.
var ended = []string{"cosign", "deliver", "feed", "log", "merge_search", "receipts", "recover"}

// logCount logs how much a job did, unless that is nothing.
func (c Config) logCount(ctx context.Context, done string, n int64) {
	if n > 0 {
		c.Logger.InfoContext(ctx, done, "count", n)
	}
}
