package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/ent/webhookdelivery"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

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
// may call it. Faults: forbidden, invalid_id, not_found (also if before is no attempt of this webhook).
func (a *API) MyWebhookDeliveries(ctx context.Context, in DeliveriesInput) (*DeliveryList, error) {
	v, of, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	exists, err := a.DB.Ent.Webhook.Query().Where(webhook.ID(of.Of), webhook.BotID(v.BotID)).Exist(ctx)
	if err == nil && exists && of.Before != nil {
		exists, err = a.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.ID(*of.Before), webhookdelivery.WebhookID(of.Of)).Exist(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fault.New(fault.NotFound)
	}
	found, err := db.All[Delivery](ctx, a.DB.SQL, named("list_deliveries"), of.Of, of.Before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	shown, next := page.Older(found, page.CursorSize, func(d *Delivery) uuid.UUID { return d.ID })
	return &DeliveryList{Deliveries: append([]*Delivery{}, shown...), NextBefore: next}, nil
}
