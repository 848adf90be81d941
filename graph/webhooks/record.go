package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// record notes how an attempt ended, and all that follows, in one transaction, whatever becomes of ctx. While the database is
// away it tries to for 10 s: what was acknowledged would be sent again.
func (a *API) record(ctx context.Context, d *attempt, got answer) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	v := judge(d, got)
	a.Attempts.Done(v.outcome, got.took)
	for {
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error { return a.settle(ctx, tx, d, got, v) })
		if err == nil || fault.From(err).Code != fault.ServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(recordPause):
		}
	}
}

// settle writes a verdict. The webhook may have been changed or deleted during the attempt: an acknowledgement counts all the
// same.
func (a *API) settle(ctx context.Context, tx *db.Tx, d *attempt, got answer, v verdict) error {
	known, err := a.note(ctx, tx, d, got)
	if err != nil {
		return err
	}
	if got.reason == "" && !d.isTest() {
		if err := a.Events.AcknowledgeDelivered(ctx, tx, d.BotID, d.EventID); err != nil {
			return err
		}
	}
	if !known {
		return nil
	}
	var status *int
	if got.status != 0 {
		status = &got.status
	}
	_, err = tx.SQL.ExecContext(ctx, addDelivery.Text, uuid.Must(uuid.NewV7()), d.WebhookID, d.EventID, d.Kind, d.Attempts, status,
		got.reason, d.Now, v.next)
	if err != nil {
		return err
	}
	if v.next != nil {
		_, err = tx.SQL.ExecContext(ctx, postponePending.Text, d.WebhookID, d.EventID, v.next)
		return err
	}
	if _, err = tx.SQL.ExecContext(ctx, endPending.Text, d.WebhookID, d.EventID); err != nil || v.state == "" {
		return err
	}
	switched, err := db.Column[uuid.UUID](ctx, tx.SQL, switchOff, d.WebhookID, d.URL, string(v.state),
		pq.Array(texts(downfalls[v.state])))
	if err != nil || len(switched) == 0 {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, dropPending.Text, d.WebhookID)
	return err
}

// note writes into the webhook's own row how the attempt ended, and locks it. False: it was deleted.
func (a *API) note(ctx context.Context, tx *db.Tx, d *attempt, got answer) (known bool, err error) {
	var noted []uuid.UUID
	if got.reason == "" {
		noted, err = db.Column[uuid.UUID](ctx, tx.SQL, noteSuccess, d.WebhookID, d.Now, got.took < promptTime)
	} else {
		var status *int
		if got.status != 0 {
			status = &got.status
		}
		var notBefore *time.Time
		if got.retryAfter > 0 && !d.isTest() {
			at := d.Now.Add(got.retryAfter)
			notBefore = &at
		}
		noted, err = db.Column[uuid.UUID](ctx, tx.SQL, noteFailure, d.WebhookID, d.Now, status, got.reason,
			got.status != 0 && got.took < promptTime, notBefore)
	}
	return len(noted) > 0, err
}
