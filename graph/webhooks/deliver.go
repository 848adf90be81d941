package webhooks

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"stoa/ent/webhook"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/wire"
)

const (
	// sliceTime is the time after which a job begins no further delivery, to make room for other webhooks.
	sliceTime = 250 * time.Millisecond
	// recordTimeout bounds the retries to store an answer while the database is unavailable.
	recordTimeout = 10 * time.Second
)

// elsewhereSeconds is the delay until the queue checks a webhook again that only a process with webhooks switched on can serve.
const elsewhereSeconds = 5.0

// attempt is a delivery that this process makes.
type attempt struct {
	WebhookID    uuid.UUID       `db:"webhook_id"`
	BotID        uuid.UUID       `db:"bot_id"`
	URL          string          `db:"url"`
	Signing      webhook.Signing `db:"signing"`
	SecretNumber int             `db:"secret_number"`
	RotatedAt    *time.Time      `db:"rotated_at"`
	// Own reports that the webhook also gets events that its agent caused itself.
	Own bool `db:"own"`
	// Voided is how often the webhook was paused because its agent's tokens ended.
	Voided int `db:"voided"`
	// Confirming reports that the webhook is active and its address has not answered a test with 2xx yet.
	Confirming bool      `db:"confirming"`
	EventID    uuid.UUID `db:"event_id"`
	Kind       string    `db:"kind"`
	// Sequence is the event's number, 0 for a test.
	Sequence int64 `db:"sequence"`
	// CreatedAt is when the pending delivery was added.
	CreatedAt time.Time `db:"created_at"`
	// Attempts includes this one.
	Attempts int       `db:"attempts"`
	Now      time.Time `db:"now"`
}

func (d *attempt) isTest() bool { return d.Sequence == 0 }

// isRetried reports whether the delivery is retried if it fails. A test is retried only if it is Confirming.
func (d *attempt) isRetried() bool { return !d.isTest() || d.Confirming }

// Deliver makes the due deliveries of a webhook, one after the other, for a short time (sliceTime). It does nothing if another
// process delivers to it, or, if its endpoint is prompt, to another prompt webhook of the agent. If this process has webhooks
// switched off, it leaves the job to another one. Only jobs call it.
func (a *API) Deliver(ctx context.Context, id uuid.UUID) error {
	if a.Sender == nil { // the process that added the job has webhooks switched on
		return db.Exec(ctx, a.DB.SQL, named("leave_webhook"), id, elsewhereSeconds)
	}
	of, err := db.Find[endpoint](ctx, a.DB.SQL, named("select_endpoint"), id)
	if err != nil || of == nil {
		return err
	}
	if !of.Prompt {
		defer a.slow.Add(-1)
		if a.slow.Add(1) > maxSlow {
			return db.Exec(ctx, a.DB.SQL, named("leave_webhook"), id, roomSeconds)
		}
	}
	taken, err := a.claim(ctx, of.BotID, id)
	if err != nil {
		return err
	}
	if taken {
		if err := errors.Join(a.deliverDue(ctx, id), a.release(ctx, of.BotID, id)); err != nil {
			return err
		}
	}
	return a.Queue(ctx, Scope{webhook: &id}) // events that are left or new
}

// deliverDue delivers until nothing is due, sliceTime is over, or the endpoint does not answer.
func (a *API) deliverDue(ctx context.Context, id uuid.UUID) error {
	for began := time.Now(); time.Since(began) < sliceTime; {
		d, err := db.Find[attempt](ctx, a.DB.SQL, named("begin_attempt"), id)
		if err != nil || d == nil {
			return err
		}
		body, err := a.body(ctx, d)
		if err != nil {
			return err
		}
		if body == nil {
			if err := db.Exec(ctx, a.DB.SQL, named("end_pending"), d.WebhookID, d.EventID); err != nil {
				return err
			}
			continue
		}
		got, err := a.Sender.post(ctx, d.URL, a.header(d, body), bytes.NewReader(body))
		if err != nil {
			return errors.Join(err, a.undo(ctx, d))
		}
		if err := a.record(ctx, d, got); err != nil {
			return err
		}
		if got.status == nil {
			return nil
		}
	}
	return nil
}

// body returns the request's body, or nil if the event is not to be sent: it was acknowledged elsewhere, can no longer be
// delivered, or was caused by the agent itself and the webhook leaves such events out, which acknowledges it. The body names its
// agent and webhook, because another agent may have a webhook with the same address and the server's key signs for both.
func (a *API) body(ctx context.Context, d *attempt) ([]byte, error) {
	content := struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		BotID     uuid.UUID      `json:"bot_id"`
		WebhookID uuid.UUID      `json:"webhook_id"`
		Data      wire.RawObject `json:"data"`
	}{Type: d.Kind, Timestamp: d.CreatedAt, BotID: d.BotID, WebhookID: d.WebhookID}
	if d.isTest() {
		data, err := wire.Marshal(map[string]any{"webhook_id": d.WebhookID})
		if err != nil {
			return nil, err
		}
		content.Data = data
		return wire.Marshal(content)
	}
	batch, err := a.Events.Fetch(ctx, events.Cursor{
		Recipient: d.BotID, Version: events.LatestVersion, After: d.Sequence - 1, Known: d.Sequence - 1, Size: 1,
		// If the event is gone, Fetch returns another one. It must not be acknowledged if its kind is not one of the webhook's.
		SkipOwn: !d.Own && events.CanBeOwn(events.Kind(d.Kind)),
	})
	if err != nil {
		return nil, err
	}
	found := batch.Events
	if len(found) == 0 || found[0].ID != d.EventID {
		return nil, nil
	}
	content.Timestamp, content.Data = found[0].CreatedAt, found[0].AppendPayload(nil)
	return wire.Marshal(content)
}

// header returns the header of Standard Webhooks: the event's id, the same at every attempt, and the attempt's timestamp.
func (a *API) header(d *attempt, body []byte) http.Header {
	return http.Header{
		"Content-Type":      {"application/json"},
		"Webhook-Id":        {d.EventID.String()},
		"Webhook-Timestamp": {strconv.FormatInt(d.Now.Unix(), 10)},
		"Webhook-Signature": {a.sign(d, body)},
	}
}

// undo takes back an attempt that a shutdown interrupted; the next attempt gets its number.
func (a *API) undo(ctx context.Context, d *attempt) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return db.Exec(ctx, a.DB.SQL, named("undo_attempt"), d.WebhookID, d.EventID)
}

// verdict holds the consequences of an answer.
type verdict struct {
	outcome string
	// next is the time of the next attempt; nil for none.
	next *time.Time
	// state is the new state of the webhook; empty if it stays the same.
	state webhook.State
}

// judge returns the verdict on an answer. A test is retried only if it is Confirming. The failure of another test is only
// recorded, unless the answer is 410.
func judge(d *attempt, got answer) verdict {
	switch {
	case got.reason == "":
		return verdict{outcome: metrics.WebhookAcknowledged}
	case got.reason == reasonGone:
		return verdict{outcome: metrics.WebhookGone, state: webhook.StateGone}
	case !d.isRetried():
		return verdict{outcome: metrics.WebhookFailed}
	}
	wait, again := nextWait(d.Attempts, got.retryAfter)
	if !again {
		return verdict{outcome: metrics.WebhookGivenUp, state: webhook.StateFailing}
	}
	return verdict{outcome: metrics.WebhookFailed, next: new(d.Now.Add(wait))}
}
