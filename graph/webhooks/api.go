// Package webhooks sends agents their events to addresses of theirs (§4.12), after Standard Webhooks 1.0.0.
//
// A webhook is one more consumer of the agent's queue of events (§6): what is to be sent to it are the unacknowledged events of
// its kinds that have no row of pending_deliveries yet, so an event that is committed reaches it whatever wake-up gets lost
// (queue.go). Only an active webhook has such rows; whatever switches one off deletes them, and switching it on begins anew. An
// answer 2xx acknowledges the event, for every connection of the agent.
//
// A new address gets a webhook.test and nothing else until it has answered one with 2xx (test.go). The end of an agent's tokens and a
// suspension pause its webhooks and void their secrets, and attempts under way have no effect (pause.go), because a thief of the token
// may have made or changed them. The agent's row is locked for that, and by every change of a webhook, which looks at its token once
// more under the lock.
//
// One job at a time delivers to a webhook, one event after the other, for a moment (deliver.go). All jobs are in one queue: those of
// agents whose endpoints took little time lately go first, and half of the workers are never with an endpoint that did not answer in
// time, so slow ones do not hold up the others (claim.go). A process claims a webhook for a minute at a time; what a crash cuts off is
// sent again under the same id when the claim has run out. Locks are taken in this order: agent, webhooks by their ids, what hangs on
// them.
//
// Nothing secret is stored: the secrets of webhooks, and the server's signing key, are derived from the installation's key
// (sign.go). The address is checked where a connection is made, for each one (sender.go), so it does not matter what a name led
// to before.
package webhooks

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
)

//go:embed webhooks.sql
var files embed.FS

var named = db.Load(files).Named

// MaxPerAgent is how many webhooks an agent may have (§8).
const MaxPerAgent = bounds.WebhooksPerAgent

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Sender delivers; nil: the operator has webhooks switched off.
	Sender *Sender
	// Key is the installation's secret.
	Key []byte
	// InsertJob asks for a DeliverJob.
	InsertJob db.Enqueue
	// Attempts counts how attempts end; nil counts nothing.
	Attempts *metrics.Series

	woken wakeups
	// slow counts the deliveries of this process to endpoints that are not prompt.
	slow atomic.Int64
}

// checked returns the calling agent and its input as check returns it. Faults in this order: unauthorized, forbidden (webhooks are
// switched off), those of check.
func checked[T any](ctx context.Context, a *API, check func() (T, error)) (viewer.Viewer, T, error) {
	return viewer.Checked(ctx, func() (T, error) {
		if a.Sender == nil {
			return *new(T), fault.New(fault.Forbidden).Say("The operator has webhooks switched off.")
		}
		return check()
	})
}

// DeliveryRetention is how long the record of an attempt is kept (§8).
const DeliveryRetention = 7 * 24 * time.Hour

// timeRetention is how long the time that deliveries took is kept. It is forgotten long before.
const timeRetention = 24 * time.Hour

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

// DeleteOldDeliveries deletes the records of attempts that are past DeliveryRetention and returns how many. What is kept of the time
// that they took goes, too.
func (a *API) DeleteOldDeliveries(ctx context.Context) (int64, error) {
	if _, err := a.DB.ExecBatches(ctx, named("delete_old_times").Text, deleteBatch, timeRetention.Seconds()); err != nil {
		return 0, err
	}
	return a.DB.ExecBatches(ctx, named("delete_old_deliveries").Text, deleteBatch, DeliveryRetention.Seconds())
}

// Metrics are the deliveries of the whole cluster that wait, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	counted, err := db.One[struct {
		Waiting     float64 `db:"waiting"`
		Failing     float64 `db:"failing"`
		LateSeconds float64 `db:"late_seconds"`
	}](ctx, a.DB.SQL, named("webhook_metrics"))
	if err != nil {
		return nil, err
	}
	return []metrics.Value{
		{Name: "stoa_webhook_deliveries_waiting", Value: counted.Waiting},
		{Name: "stoa_webhook_deliveries_late_seconds", Value: max(counted.LateSeconds, 0)},
		{Name: "stoa_webhooks_failing", Value: counted.Failing},
	}, nil
}
