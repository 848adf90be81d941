package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// CreateWebhook adds a webhook of the caller. It is sent a test at once and, after an answer 2xx, the unacknowledged events of
// its kinds (§4.12). Only this answer contains its secret. Only an agent may call it; it has no idempotency id. Faults in this
// order: forbidden (webhooks are switched off), invalid_input, unauthorized (the token ended meanwhile), state_conflict (the
// agent has three).
func (a *API) CreateWebhook(ctx context.Context, in CreateInput) (*SecretResult, error) {
	v, wanted, err := checked(ctx, a, func() (ent.Webhook, error) { return in.check(a.Sender.config.AllowLoopback) })
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*SecretResult, error) {
		if err := lockCaller(ctx, tx, v); err != nil {
			return nil, err
		}
		has, err := tx.Ent.Webhook.Query().Where(webhook.BotID(v.BotID)).Count(ctx)
		if err != nil {
			return nil, err
		}
		if has >= MaxPerAgent {
			return nil, fault.New(fault.StateConflict).Say("An agent has at most three webhooks; delete one first.")
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		w, err := tx.Ent.Webhook.Create().SetBotID(v.BotID).SetURL(wanted.URL).SetHost(wanted.Host).SetKinds(wanted.Kinds).
			SetNillableOwn(in.Own).SetSigning(wanted.Signing).SetCreatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return nil, err
		}
		made := &SecretResult{Webhook: newCard(w)}
		if w.Signing == webhook.SigningV1 {
			secret := a.secretText(w.ID, w.SecretNumber)
			made.Secret = &secret
		}
		return made, a.queue(ctx, tx, Scope{webhook: &w.ID})
	})
}

// TestWebhook sends a webhook of the caller, whatever its state, one webhook.test, which is no event of the queue (§4.12). A
// waiting test is sent now. The deliveries show its result. Only an agent may call it. Faults: forbidden, invalid_id, not_found.
func (a *API) TestWebhook(ctx context.Context, in Input) (*Test, error) {
	v, id, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Test, error) {
		if _, err := lock(ctx, tx, v, id); err != nil {
			return nil, err
		}
		asked, err := askTest(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return &Test{EventID: asked}, a.queue(ctx, tx, Scope{Due: true})
	})
}

// askTest makes the test of a webhook due now, and returns the id under which it is sent. At most one test waits for a webhook.
// The caller has locked the webhook.
func askTest(ctx context.Context, tx *db.Tx, id uuid.UUID) (uuid.UUID, error) {
	waiting, err := db.Column[uuid.UUID](ctx, tx.SQL, named("waiting_test"), id)
	if err != nil {
		return uuid.Nil, err
	}
	if len(waiting) == 0 {
		waiting = []uuid.UUID{uuid.Must(uuid.NewV7())}
		if _, err := tx.SQL.ExecContext(ctx, named("add_test").Text, id, waiting[0]); err != nil {
			return uuid.Nil, err
		}
	}
	_, err = tx.SQL.ExecContext(ctx, named("look_now").Text, id)
	return waiting[0], err
}

// askMissingTests adds the tests of untested webhooks that have none: of the given webhook, or of up to 100.
func askMissingTests(ctx context.Context, tx *db.Tx, webhook *uuid.UUID) error {
	found, err := db.Column[uuid.UUID](ctx, tx.SQL, named("untested"), webhook)
	if err != nil {
		return err
	}
	for _, id := range found {
		if _, err := askTest(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}
