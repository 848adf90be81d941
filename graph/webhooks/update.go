package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// UpdateWebhook changes a webhook of the caller (§4.12). Attempts that were to follow are forgotten; a webhook that is active
// afterwards is at once sent what is unacknowledged of its kinds, with all attempts before it, or, where its address has not answered
// a test with 2xx yet, a test. Only an agent may call it. Faults in this order: forbidden, invalid_id, invalid_input, unauthorized
// (the token ended meanwhile), not_found.
func (a *API) UpdateWebhook(ctx context.Context, in UpdateInput) (*Result, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, host, err := in.check(a.Sender.config.AllowLoopback)
	if err != nil {
		return nil, err
	}
	var changed *Result
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		w, err := lock(ctx, tx, v, id)
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		change := tx.Ent.Webhook.UpdateOne(w).SetUpdatedAt(now).ClearNotBefore().ClearQueuedUntil()
		if in.URL != nil && *in.URL != w.URL {
			change.SetURL(*in.URL).SetHost(host).SetPrompt(false).SetTookSeconds(0).ClearConfirmedAt()
		}
		if in.Kinds != nil {
			change.SetKinds(in.Kinds)
		}
		if in.Own != nil {
			change.SetOwn(*in.Own)
		}
		if in.State != nil {
			change.SetState(webhook.State(*in.State))
		}
		if w, err = change.Save(ctx); err != nil {
			return err
		}
		changed = &Result{newCard(w)}
		if _, err := tx.SQL.ExecContext(ctx, dropPending.Text, id); err != nil {
			return err
		}
		return a.queue(ctx, tx, Scope{webhook: &id})
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// DeleteWebhook deletes a webhook of the caller with the records of its attempts (§4.12). What is on its way may still arrive, and
// acknowledges nothing. Only an agent may call it. Faults in this order: forbidden, invalid_id, unauthorized (the token ended
// meanwhile), not_found (also for a repeat).
func (a *API) DeleteWebhook(ctx context.Context, in Input) (*Deleted, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		w, err := lock(ctx, tx, v, id)
		if err != nil {
			return err
		}
		return tx.Ent.Webhook.DeleteOne(w).Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &Deleted{Deleted: true, ID: id}, nil
}

// RotateWebhookSecret gives a webhook of the caller a new secret, which is in this answer alone (§4.12). For 24 hours deliveries
// are signed with the one before, too. Only an agent may call it; a repeat rotates again. Faults in this order: forbidden,
// invalid_id, not_found, state_conflict (the webhook has no secret, since the server's key signs).
func (a *API) RotateWebhookSecret(ctx context.Context, in Input) (*SecretResult, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	var rotated *SecretResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		w, err := lock(ctx, tx, v, id)
		if err != nil {
			return err
		}
		if w.Signing != webhook.SigningV1 {
			return fault.New(fault.StateConflict).Say("The webhook has no secret: the server's published key signs its deliveries.")
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		w, err = tx.Ent.Webhook.UpdateOne(w).AddSecretNumber(1).SetRotatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		secret := a.secretText(id, w.SecretNumber)
		rotated = &SecretResult{newCard(w), &secret}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rotated, nil
}

// lock reads a webhook of the caller and keeps others from changing it. Faults: those of lockCaller, not_found.
func lock(ctx context.Context, tx *db.Tx, v viewer.Viewer, id uuid.UUID) (*ent.Webhook, error) {
	if err := lockCaller(ctx, tx, v); err != nil {
		return nil, err
	}
	return tx.Ent.Webhook.Query().Where(webhook.ID(id), webhook.BotID(v.BotID)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
}
