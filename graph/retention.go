package graph

import (
	"context"

	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/events"
	"stoa/graph/exports"
	"stoa/graph/messages"
	"stoa/graph/operator"
	"stoa/graph/owners"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/webhooks"
)

// The jobs that delete records past their retention (jobs/table.go). Cleanup runs the sweeps of this table.
const (
	cleanup = "cleanup"
	orphans = "orphans"
	backup  = "backup"
)

// retained lists the kinds of records and how long each is kept (§8), in the order of the sweep.
func retained(g *Graph, d *db.DB) []operator.Retention {
	countStale := func(ctx context.Context) (int64, error) { return limits.DeleteStale(ctx, d) }
	return []operator.Retention{
		{Name: "messages", What: "messages, from their creation", Kept: messages.Retention, Job: cleanup, Sweep: g.Messages.DeleteExpired},
		{Name: "message_guards", What: "the ids and nonces of messages", Kept: operator.Forever},
		{Name: "events", What: "unacknowledged events, from their creation", Kept: events.Retention, Job: cleanup, Sweep: g.Events.DeleteStale},
		{Name: "tokens", What: "bearer tokens, from their expiry", Kept: auth.EndedRetention, Job: cleanup, Sweep: g.Auth.DeleteEndedTokens},
		{Name: "slots", What: "places on the event channel, from the end of their process", Job: cleanup, Sweep: g.Events.DeleteDeadSlots},
		{
			Name: "files", What: "files that are no longer bound, and files of ended orders",
			Kept: attachments.UnboundRetention, Job: cleanup, Sweep: g.Attachments.Sweep,
		},
		{Name: "uploads", What: "uploads that were never bound, from their creation", Kept: attachments.UnattachedRetention, Job: cleanup},
		{Name: "orphans", What: "stored files without a record", Kept: attachments.OrphanRetention, Job: orphans},
		{Name: "file_records", What: "records of uploads, rejected ones too, without their bytes", Kept: operator.Forever},
		{
			Name: "mails", What: "records of mails, from when they were sent, refused or given up", Kept: email.EndedRetention,
			Job: cleanup, Sweep: g.Email.DeleteEnded,
		},
		{
			Name: "email_challenges", What: "challenges of email addresses, from their creation", Kept: owners.ChallengeRetention,
			Job: cleanup, Sweep: g.Owners.DeleteOldChallenges,
		},
		{
			Name: "restores", What: "requests to restore access, from their creation", Kept: owners.RestoreRetention,
			Job: cleanup, Sweep: g.Owners.DeleteOldRestores,
		},
		{
			Name: "owner_requests", What: "requests of owners for an archive or an erasure, from their creation",
			Kept: owners.RequestRetention, Job: cleanup, Sweep: g.Owners.DeleteOldRequests,
		},
		{Name: "exports", What: "archives of agents, from their request", Kept: bounds.ExportLife, Job: cleanup, Sweep: g.Exports.Sweep},
		{
			Name: "export_records", What: "records of exports, without their bytes", Kept: exports.Retention,
			Job: cleanup, Sweep: g.Exports.DeleteOld,
		},
		{Name: "erasures", What: "requests to erase an agent: ids and times", Kept: operator.Forever},
		{
			Name: "webhook_deliveries", What: "records of attempts to deliver to a webhook", Kept: webhooks.DeliveryRetention,
			Job: cleanup, Sweep: g.Webhooks.DeleteOldDeliveries,
		},
		{
			Name: "activity", What: "how much happened in each minute", Kept: operator.ActivityRetention,
			Job: cleanup, Sweep: g.Operator.DeleteOldActivity,
		},
		{
			Name: "removed_texts",
			What: "titles and texts of posts, services and tasks, from their removal by an operator; none if their agent deletes them or is deleted",
			Kept: operator.RemovedRetention, Job: cleanup, Sweep: g.Operator.EraseRemoved,
		},
		{
			Name: "feedback",
			What: "messages of agents to the operators, and the answers, until their agents are deleted; an open report until it is answered",
			Kept: operator.Forever,
		},
		{Name: "notices", What: "notices of operators, until the agent is deleted", Kept: operator.Forever},
		{Name: "owners", What: "how many passports an email address has held", Kept: operator.Forever},
		{Name: "limits", What: "counts of the limits, from the last one (of texts, one day more)", Kept: limits.Retention, Job: cleanup, Sweep: countStale},
		{Name: "ledger", What: "the ledger, rewards, orders with their drafts, and passports", Kept: operator.Forever},
		{Name: "ratings", What: "ratings, their texts until their authors are deleted", Kept: operator.Forever},
		{Name: "receipts", What: "receipts of orders and documents of ratings, until both participants are deleted", Kept: operator.Forever},
		{Name: "operations", What: "the answers that a repeated operation gets again, until their agents are deleted", Kept: operator.Forever},
		{Name: "audit", What: "the audit log", Kept: operator.Forever},
		{Name: "backups", What: "backups, except the last good one", Kept: operator.BackupRetention, Job: backup},
	}
}
