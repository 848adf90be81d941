// Package webhooks sends agents their events to addresses of theirs (§4.12), after Standard Webhooks 1.0.0.
//
// A webhook is one more consumer of the agent's queue of events (§6): what is to be sent to it are the unacknowledged events of
// its kinds that have no row of pending_deliveries yet, so an event that is committed reaches it whatever wake-up gets lost
// (queue.go). Only an active webhook has such rows; whatever switches one off deletes them, and switching it on begins anew. An
// answer 2xx acknowledges the event, for every connection of the agent.
//
// One job at a time delivers to a webhook, one event after the other (deliver.go), so an endpoint holds one worker at most.
// Endpoints that have not proven to answer in time have workers of their own, which keeps them from holding up the others. A
// process claims a webhook for a minute at a time; what a crash cuts off is sent again under the same id when the claim has run
// out.
//
// Nothing secret is stored: the secrets of webhooks, and the server's signing key, are derived from the installation's key
// (sign.go). The address is checked where a connection is made, for each one (sender.go), so it does not matter what a name led
// to before.
package webhooks

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
)

//go:embed webhooks.sql
var files embed.FS

var (
	statements          = db.Load(files)
	lockAgent           = statements.Named("lock_agent")
	addPending          = statements.Named("add_pending")
	addTest             = statements.Named("add_test")
	queueDue            = statements.Named("queue_due")
	hasWebhooks         = statements.Named("has_webhooks")
	claimWebhook        = statements.Named("claim_webhook")
	leaveJob            = statements.Named("leave_job")
	releaseWebhook      = statements.Named("release_webhook")
	beginAttempt        = statements.Named("begin_attempt")
	undoAttempt         = statements.Named("undo_attempt")
	endPending          = statements.Named("end_pending")
	postponePending     = statements.Named("postpone_pending")
	dropPending         = statements.Named("drop_pending")
	noteSuccess         = statements.Named("note_success")
	noteFailure         = statements.Named("note_failure")
	switchOff           = statements.Named("switch_off")
	addDelivery         = statements.Named("add_delivery")
	listDeliveries      = statements.Named("list_deliveries")
	deleteOldDeliveries = statements.Named("delete_old_deliveries")
	webhookMetrics      = statements.Named("webhook_metrics")
)

// MaxPerAgent is how many webhooks an agent may have (§8).
const MaxPerAgent = 3

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Sender delivers; nil: the operator has webhooks switched off.
	Sender *Sender
	// Key is the installation's secret.
	Key []byte
	// InsertJob asks for DeliverJob and DeliverSlowJob.
	InsertJob db.Enqueue
	// Attempts counts how attempts end; nil counts nothing.
	Attempts *metrics.Webhooks

	woken wakeups
}

// DeliverJob asks for the deliveries that are due to a webhook that answers in time.
type DeliverJob struct {
	WebhookID uuid.UUID `json:"webhook_id"`
}

// DeliverSlowJob asks for those to a webhook that has not shown so.
type DeliverSlowJob struct {
	WebhookID uuid.UUID `json:"webhook_id"`
}

// Kind implements db.Job.
func (DeliverJob) Kind() string { return "deliver_webhook" }

// Kind implements db.Job.
func (DeliverSlowJob) Kind() string { return "deliver_slow_webhook" }

// caller returns the calling agent: unauthorized for anyone else, forbidden while webhooks are switched off.
func (a *API) caller(ctx context.Context) (viewer.Viewer, error) {
	v, err := viewer.RequireAgent(ctx)
	if err == nil && a.Sender == nil {
		err = fault.New(fault.Forbidden).Say("The operator has webhooks switched off.")
	}
	return v, err
}

// DeliveryRetention is how long the record of an attempt is kept (§8).
const DeliveryRetention = 7 * 24 * time.Hour

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

// DeleteOldDeliveries deletes the records of attempts that are past DeliveryRetention and returns how many.
func (a *API) DeleteOldDeliveries(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteOldDeliveries.Text, deleteBatch, DeliveryRetention.Seconds())
}

// Metrics are the deliveries of the whole cluster that wait, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	counted, err := db.One[struct {
		Waiting     float64 `db:"waiting"`
		Failing     float64 `db:"failing"`
		LateSeconds float64 `db:"late_seconds"`
	}](ctx, a.DB.SQL, webhookMetrics)
	if err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Row: metrics.WebhooksWaiting, Value: counted.Waiting},
		{Row: metrics.WebhooksLate, Value: max(counted.LateSeconds, 0)},
		{Row: metrics.WebhooksFailing, Value: counted.Failing},
	}, nil
}
