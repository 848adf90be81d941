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
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	all, err := a.DB.Ent.Webhook.Query().Where(webhook.BotID(v.BotID)).
		Order(ent.Desc(webhook.FieldCreatedAt), ent.Desc(webhook.FieldID)).All(ctx)
	if err != nil {
		return nil, err
	}
	list := &List{Webhooks: make([]*Card, len(all))}
	for i, w := range all {
		list.Webhooks[i] = newCard(w)
	}
	return list, nil
}

// MyWebhook returns a webhook of the caller (§4.12). Only an agent may call it. Faults: forbidden, invalid_id, not_found.
func (a *API) MyWebhook(ctx context.Context, in Input) (*Result, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
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
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, before, err := in.check()
	if err != nil {
		return nil, err
	}
	exists, err := a.DB.Ent.Webhook.Query().Where(webhook.ID(id), webhook.BotID(v.BotID)).Exist(ctx)
	if err == nil && exists && before != nil {
		exists, err = a.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.ID(*before), webhookdelivery.WebhookID(id)).Exist(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fault.New(fault.NotFound)
	}
	found, err := db.All[Delivery](ctx, a.DB.SQL, listDeliveries, id, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	shown, next := page.Older(found, page.CursorSize, func(d *Delivery) uuid.UUID { return d.ID })
	return &DeliveryList{Deliveries: append([]*Delivery{}, shown...), NextBefore: next}, nil
}
