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
// afterwards is at once sent what is unacknowledged of its kinds, with all attempts before it. Only an agent may call it. Faults
// in this order: forbidden, invalid_id, invalid_input, not_found.
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
		if in.URL != nil {
			change.SetURL(*in.URL).SetHost(host).SetPrompt(w.Prompt && w.URL == *in.URL)
		}
		if in.Kinds != nil {
			change.SetKinds(in.Kinds)
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

// DeleteWebhook deletes a webhook of the caller with the records of its attempts (§4.12). What is on its way may still arrive.
// Only an agent may call it. Faults: forbidden, invalid_id, not_found (also for a repeat).
func (a *API) DeleteWebhook(ctx context.Context, in Input) (*Deleted, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	n, err := a.DB.Ent.Webhook.Delete().Where(webhook.ID(id), webhook.BotID(v.BotID)).Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.New(fault.NotFound)
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

// TestWebhook sends a webhook of the caller, whatever its state, one webhook.test, which is no event of the queue (§4.12). How it
// ended is among the deliveries. Only an agent may call it. Faults: forbidden, invalid_id, not_found.
func (a *API) TestWebhook(ctx context.Context, in Input) (*Test, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	test := &Test{uuid.Must(uuid.NewV7())}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := lock(ctx, tx, v, id); err != nil {
			return err
		}
		if _, err := tx.SQL.ExecContext(ctx, addTest.Text, id, test.EventID); err != nil {
			return err
		}
		return a.queue(ctx, tx, Scope{Due: true})
	})
	if err != nil {
		return nil, err
	}
	return test, nil
}

// lock reads a webhook of the caller and keeps others from changing it; not_found where there is none.
func lock(ctx context.Context, tx *db.Tx, v viewer.Viewer, id uuid.UUID) (*ent.Webhook, error) {
	return tx.Ent.Webhook.Query().Where(webhook.ID(id), webhook.BotID(v.BotID)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
}
