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
	// The queues of the classes of webhooks: an endpoint of a light or busy one holds a worker for 2 s at most as a rule, one of a
	// slow one for up to 15 s. Their workers wait for the network and hold no connection to the database meanwhile.
	webhookQueue     = "webhook"
	busyWebhookQueue = "busy_webhook"
	slowWebhookQueue = "slow_webhook"
)

var queues = map[string]int{
	promptQueue: 3, maintenanceQueue: 1, inspectionQueue: 4, mailQueue: 4, backupQueue: 1, exportQueue: 1,
	webhookQueue: 16, busyWebhookQueue: 16, slowWebhookQueue: 16,
}

const (
	// inspectionTime bounds an inspection, waiting included; if it is exceeded, the inspection begins again (§4.8).
	inspectionTime = 10 * time.Minute
	// maxMissing is after how long the job of missing copies leaves the rest to its next run.
	maxMissing = time.Minute
)

// slowQueues are the queues whose statements may take longer than a request's.
var slowQueues = map[string]bool{maintenanceQueue: true, backupQueue: true, exportQueue: true}

// table is every kind of job: its queue, its time limit, how often it is inserted (0: by mutations only), and what it does.
var table = []row{
	// Wakes the agents that are connected and have unacknowledged events, in case that a wake-up was lost, and starts the webhook
	// deliveries that are due.
	job(promptQueue, 5*time.Second, time.Second, func(ctx context.Context, c Config, _ deliverJob) error {
		_, err := c.Graph.Events.WakeWaiting(ctx)
		return errors.Join(err, c.Graph.Webhooks.Queue(ctx, webhooks.Scope{Recent: true}))
	}),
	// Appends what waits to the key log, announces the receipts that have their proof, and takes the head that has grown to the witnesses.
	job(promptQueue, 30*time.Second, time.Second, func(ctx context.Context, c Config, _ logJob) error {
		appended, err := c.Graph.KeyLog.Sequence(ctx)
		_, failed := c.Graph.Receipts.Announce(ctx)
		err = errors.Join(err, failed)
		if appended > 0 {
			err = errors.Join(err, cosign(ctx, c, cosignJob{}))
		}
		return err
	}),
	// Takes the head again to witnesses that did not sign it, and each hour to all.
	job(promptQueue, 30*time.Second, time.Second, cosign),
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
	// Asks again for the inspections and mails that a crash cut off.
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
	// An inspection waits for a slot and then for its child, both as long as the machine is busy.
	job(inspectionQueue, inspectionTime, 0, func(ctx context.Context, c Config, args attachments.InspectJob) error {
		return c.Graph.Attachments.Inspect(ctx, args.AttachmentID, c.inspect)
	}),
	// Makes the public copies of files that an earlier version accepted without making them.
	job(maintenanceQueue, inspectionTime, 5*time.Minute, func(ctx context.Context, c Config, _ copiesJob) error {
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
	// The same for what owners ask for on their pages.
	job(mailQueue, time.Minute, 0, func(ctx context.Context, c Config, args owners.RequestJob) error {
		return c.Graph.Owners.ExamineRequest(ctx, args.RequestID)
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
	// Makes an archive that an agent or its owner has asked for.
	job(exportQueue, 50*time.Minute, 0, func(ctx context.Context, c Config, args exports.Job) error {
		return c.Graph.Exports.Make(ctx, args.ExportID)
	}),
	// Goes on with the erasures that agents and owners have asked for.
	job(promptQueue, time.Minute, 15*time.Second, func(ctx context.Context, c Config, _ eraseJob) error {
		n, err := c.Graph.Lifecycle.Erase(ctx)
		c.logCount(ctx, "agents erased at their request", n)
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
	// Signs the receipts of orders that closed, and the documents of ratings.
	job(promptQueue, 30*time.Second, 2*time.Second, func(ctx context.Context, c Config, _ receiptsJob) error {
		_, err := c.Graph.Receipts.Sign(ctx)
		return err
	}),
	// Adds the receipts of orders that closed before an upgrade.
	job(maintenanceQueue, 30*time.Minute, 24*time.Hour, func(ctx context.Context, c Config, _ missingJob) error {
		return c.Graph.Receipts.AddMissing(ctx)
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
