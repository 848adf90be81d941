package webhooks

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
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
			made.Secret = new(a.secretText(w.ID, w.SecretNumber))
		}
		return made, a.queue(ctx, tx, Scope{webhook: &w.ID})
	})
}

// TestWebhook sends a webhook of the caller, whatever its state, one webhook.test, which is not an event of the queue (§4.12). A
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
		return &Test{EventID: asked}, a.queue(ctx, tx, Scope{webhook: &id})
	})
}

// askTest makes the test of a webhook due now, and returns the id under which it is sent. At most one test waits for a webhook.
// The caller has locked the webhook.
func askTest(ctx context.Context, tx *db.Tx, id uuid.UUID) (uuid.UUID, error) {
	asked, err := db.Column[uuid.UUID](ctx, tx.SQL, named("ask_test"), id, uuid.Must(uuid.NewV7()))
	if err != nil {
		return uuid.Nil, err
	}
	return asked[0], nil
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

// UpdateWebhook changes a webhook of the caller (§4.12). Its waiting deliveries are deleted. If it is active afterwards, it is at
// once sent the unacknowledged events of its kinds, each counting its attempts anew, or a test if its address has not answered
// one with 2xx yet. Only an agent may call it. Faults in this order: forbidden, invalid_id, invalid_input, unauthorized (the
// token ended meanwhile), not_found.
func (a *API) UpdateWebhook(ctx context.Context, in UpdateInput) (*Result, error) {
	v, of, err := checked(ctx, a, func() (target, error) { return in.check(a.Sender.config.AllowLoopback) })
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Result, error) {
		w, err := lock(ctx, tx, v, of.id)
		if err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		change := tx.Ent.Webhook.UpdateOne(w).SetUpdatedAt(now).ClearNotBefore().ClearQueuedUntil().SetNillableOwn(in.Own)
		if in.URL != nil && *in.URL != w.URL {
			change.SetURL(*in.URL).SetHost(of.host).SetPrompt(false).SetTookSeconds(0).ClearConfirmedAt()
		}
		if in.Kinds != nil {
			change.SetKinds(in.Kinds)
		}
		if in.State != nil {
			change.SetState(webhook.State(*in.State))
		}
		if w, err = change.Save(ctx); err != nil {
			return nil, err
		}
		if err := db.Exec(ctx, tx.SQL, named("drop_pending"), of.id); err != nil {
			return nil, err
		}
		return &Result{newCard(w)}, a.queue(ctx, tx, Scope{webhook: &of.id})
	})
}

// DeleteWebhook deletes a webhook of the caller with the records of its attempts (§4.12). A running delivery may still arrive,
// but acknowledges nothing. Only an agent may call it. Faults in this order: forbidden, invalid_id, unauthorized (the token ended
// meanwhile), not_found (also for a repeat).
func (a *API) DeleteWebhook(ctx context.Context, in Input) (*Deleted, error) {
	v, id, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Deleted, error) {
		w, err := lock(ctx, tx, v, id)
		if err != nil {
			return nil, err
		}
		return &Deleted{Deleted: true, ID: id}, tx.Ent.Webhook.DeleteOne(w).Exec(ctx)
	})
}

// RotateWebhookSecret gives a webhook of the caller a new secret, which only this answer contains (§4.12). For 24 hours
// deliveries are also signed with the previous secret. Only an agent may call it; a repeat rotates again. Faults in this order:
// forbidden, invalid_id, not_found, state_conflict (the webhook has no secret, because the server's key signs).
func (a *API) RotateWebhookSecret(ctx context.Context, in Input) (*SecretResult, error) {
	v, id, err := checked(ctx, a, in.check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*SecretResult, error) {
		w, err := lock(ctx, tx, v, id)
		if err != nil {
			return nil, err
		}
		if w.Signing != webhook.SigningV1 {
			return nil, fault.New(fault.StateConflict).Say("The webhook has no secret: the server's published key signs its deliveries.")
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		w, err = tx.Ent.Webhook.UpdateOne(w).AddSecretNumber(1).SetRotatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return nil, err
		}
		return &SecretResult{newCard(w), new(a.secretText(id, w.SecretNumber))}, nil
	})
}

// lock reads and locks a webhook of the caller. Faults: the faults of lockCaller, not_found.
func lock(ctx context.Context, tx *db.Tx, v viewer.Viewer, id uuid.UUID) (*ent.Webhook, error) {
	if err := lockCaller(ctx, tx, v); err != nil {
		return nil, err
	}
	return tx.Ent.Webhook.Query().Where(webhook.ID(id), webhook.BotID(v.BotID)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
}

// Pause pauses every webhook of an agent and voids its secret, until the agent switches it on again (§4.12). Waiting deliveries
// are deleted, and running attempts acknowledge nothing. Call it in the transaction that ends the agent's tokens or suspends it,
// with the agent's row locked.
func Pause(ctx context.Context, tx *db.Tx, botID uuid.UUID, why auth.Ending) error {
	has, err := db.Column[uuid.UUID](ctx, tx.SQL, named("lock_webhooks"), botID)
	if err != nil || len(has) == 0 {
		return err
	}
	return db.Exec(ctx, tx.SQL, named("void_webhooks"), botID, string(why))
}

// lockCaller locks the caller's row and checks its token once more, so that a request that was authenticated before the token
// ended changes no webhook after it. Its faults are unauthorized and, for a suspended agent, forbidden.
func lockCaller(ctx context.Context, tx *db.Tx, v viewer.Viewer) error {
	if err := db.Exec(ctx, tx.SQL, named("lock_agent"), v.BotID); err != nil {
		return err
	}
	suspended, err := db.Column[bool](ctx, tx.SQL, named("holds_token"), v.TokenID)
	switch {
	case err != nil:
		return err
	case len(suspended) == 0:
		return fault.New(fault.Unauthorized)
	case suspended[0]:
		return fault.New(fault.Forbidden)
	}
	return nil
}

// settable lists the states that an agent can set, from any other state.
var settable = []webhook.State{webhook.StateActive, webhook.StatePaused}

// causedStates maps each state that an endpoint can cause to the states before it. Only an active webhook becomes failing; an
// answer 410, also to a test, makes any webhook gone.
var causedStates = map[webhook.State][]webhook.State{
	webhook.StateFailing: {webhook.StateActive},
	webhook.StateGone:    {webhook.StateActive, webhook.StatePaused, webhook.StateFailing},
}

// texts returns the names of states or endings as an argument of statements.
func texts[Name ~string](all []Name) pq.StringArray {
	return page.Map(all, func(n Name) string { return string(n) })
}
