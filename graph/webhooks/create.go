package webhooks

import (
	"context"

	"stoa/ent/webhook"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// CreateWebhook adds a webhook of the caller, which is at once sent a test and, once that was answered 2xx, what is unacknowledged of
// its kinds (§4.12). Its secret is in this answer alone. Only an agent may call it; it has no idempotency id. Faults in this order:
// forbidden (webhooks are switched off), invalid_input, unauthorized (the token ended meanwhile), state_conflict (the agent has
// three).
func (a *API) CreateWebhook(ctx context.Context, in CreateInput) (*SecretResult, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	host, kinds, signing, err := in.check(a.Sender.config.AllowLoopback)
	if err != nil {
		return nil, err
	}
	var made *SecretResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lockCaller(ctx, tx, v); err != nil {
			return err
		}
		has, err := tx.Ent.Webhook.Query().Where(webhook.BotID(v.BotID)).Count(ctx)
		if err != nil {
			return err
		}
		if has >= MaxPerAgent {
			return fault.New(fault.StateConflict).Say("An agent has at most three webhooks; delete one first.")
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		w, err := tx.Ent.Webhook.Create().SetBotID(v.BotID).SetURL(*in.URL).SetHost(host).SetKinds(kinds).SetNillableOwn(in.Own).
			SetSigning(signing).SetCreatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		made = &SecretResult{Webhook: newCard(w)}
		if signing == webhook.SigningV1 {
			secret := a.secretText(w.ID, w.SecretNumber)
			made.Secret = &secret
		}
		return a.queue(ctx, tx, Scope{webhook: &w.ID})
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}
