// Package webhooks delivers agents' events to their own HTTP endpoints (§4.12), after Standard Webhooks 1.0.0.
//
// A webhook is one more consumer of the agent's event queue (§6). Every second Queue adds a row of pending_deliveries for each
// unacknowledged event of the webhook's kinds that has none (queue.go). Only an active webhook has such rows: switching it off
// deletes them, and switching it on begins anew. An answer 2xx acknowledges the event for every connection of the agent.
//
// A new address gets only a webhook.test until it has answered one with 2xx (change.go). If an agent's tokens end or it is
// suspended, its webhooks are paused, their secrets are void and running attempts have no effect (change.go), because a thief of
// the token may have made or changed the webhooks. Pausing locks the agent's row. Every change of a webhook locks it too, and
// then checks its token again.
//
// One job at a time delivers to a webhook, one event after the other, for a short time (deliver.go). All jobs are in one queue.
// Jobs of agents whose endpoints took little time lately go first, and half of the workers never serve slow endpoints, so slow
// ones do not hold up the others (queue.go). A process claims a webhook for a minute at a time; after a crash an interrupted
// delivery is sent again under the same id once the claim has expired. Locks are taken in this order: agent, webhooks by id,
// dependent rows.
//
// Nothing secret is stored: the secrets of webhooks, and the server's signing key, are derived from the installation's key.
// The sender signs, and checks the resolved address of each connection (sender.go), so a name cannot lead elsewhere after a
// check.
package webhooks

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/ent/webhookdelivery"
	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

//go:embed webhooks.sql
var files embed.FS

var named = db.Load(files).Named

// MaxPerAgent is the maximum number of webhooks of an agent (§8).
const MaxPerAgent = bounds.WebhooksPerAgent

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Sender delivers; nil means that the operator has switched webhooks off.
	Sender *Sender
	// Key is the installation's secret.
	Key []byte
	// InsertJob adds a DeliverJob.
	InsertJob db.Enqueue
	// Attempts counts how attempts end; nil counts nothing.
	Attempts *metrics.Series

	// slow counts the running deliveries of this process to endpoints that are not prompt.
	slow atomic.Int64
}

// checked returns the calling agent and the result of check. Faults in this order: unauthorized, forbidden (webhooks are switched
// off), the faults of check.
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

// timeRetention is how long delivery times are kept. They have decayed to 0 long before.
const timeRetention = 24 * time.Hour

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

// DeleteOldDeliveries deletes the records of attempts that are past DeliveryRetention and returns how many. It also deletes old
// delivery times.
func (a *API) DeleteOldDeliveries(ctx context.Context) (int64, error) {
	if _, err := a.DB.ExecBatches(ctx, named("delete_old_times"), deleteBatch, timeRetention.Seconds()); err != nil {
		return 0, err
	}
	return a.DB.ExecBatches(ctx, named("delete_old_deliveries"), deleteBatch, DeliveryRetention.Seconds())
}

// Metrics returns figures about the waiting deliveries of the whole cluster, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	return metrics.Read(ctx, a.DB.SQL, named("webhook_metrics"))
}

// MyWebhooks lists the caller's webhooks, newest first (§4.12). Only an agent may call it. Its fault is forbidden.
func (a *API) MyWebhooks(ctx context.Context) (*List, error) {
	v, _, err := checked(ctx, a, func() (bool, error) { return true, nil })
	if err != nil {
		return nil, err
	}
	all, err := a.DB.Ent.Webhook.Query().Where(webhook.BotID(v.BotID)).
		Order(ent.Desc(webhook.FieldCreatedAt), ent.Desc(webhook.FieldID)).All(ctx)
	return &List{Webhooks: page.Map(all, newCard)}, err
}

// MyWebhook returns a webhook of the caller (§4.12). Only an agent may call it. Faults: forbidden, invalid_id, not_found.
func (a *API) MyWebhook(ctx context.Context, in Input) (*Result, error) {
	v, id, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	w, err := a.DB.Ent.Webhook.Query().Where(webhook.ID(id), webhook.BotID(v.BotID)).Only(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{newCard(w)}, nil
}

// MyWebhookDeliveries lists the attempts to deliver to a webhook of the caller, newest first, 100 a page (§4.12). Only an agent
// may call it. Faults: forbidden, invalid_id, not_found (also if before is not an attempt of this webhook).
func (a *API) MyWebhookDeliveries(ctx context.Context, in DeliveriesInput) (*DeliveryList, error) {
	v, of, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	_, err = a.DB.Ent.Webhook.Query().Where(webhook.ID(of.Of), webhook.BotID(v.BotID)).OnlyID(ctx)
	if err == nil && of.Before != nil {
		_, err = a.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.ID(*of.Before), webhookdelivery.WebhookID(of.Of)).OnlyID(ctx)
	}
	if err != nil {
		return nil, err
	}
	found, err := db.All[Delivery](ctx, a.DB.SQL, named("list_deliveries"), of.Of, of.Before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	shown, next := page.Older(found, page.CursorSize, func(d *Delivery) uuid.UUID { return d.ID })
	return &DeliveryList{Deliveries: append([]*Delivery{}, shown...), NextBefore: next}, nil
}
