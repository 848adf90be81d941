package webhooks

import (
	"bytes"
	"context"
	"database/sql"
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
	// runTime and runDeliveries are after how long, and how many deliveries, a job makes room for those of other webhooks.
	runTime       = 20 * time.Second
	runDeliveries = 100
	// promptTime is within which an endpoint must acknowledge to have its next delivery among the prompt ones.
	promptTime = 2 * time.Second
	// recordTimeout is how long the note of an answer is retried while the database is away.
	recordTimeout = 10 * time.Second
	recordPause   = 250 * time.Millisecond
)

// attempt is a delivery that this process makes.
type attempt struct {
	WebhookID    uuid.UUID       `db:"webhook_id"`
	BotID        uuid.UUID       `db:"bot_id"`
	URL          string          `db:"url"`
	Signing      webhook.Signing `db:"signing"`
	SecretNumber int             `db:"secret_number"`
	RotatedAt    *time.Time      `db:"rotated_at"`
	EventID      uuid.UUID       `db:"event_id"`
	Kind         string          `db:"kind"`
	// Sequence is the event's, 0 for a test.
	Sequence int64 `db:"sequence"`
	// CreatedAt is when it was added to what is to be sent.
	CreatedAt time.Time `db:"created_at"`
	// Attempts counts this one.
	Attempts int       `db:"attempts"`
	Now      time.Time `db:"now"`
}

func (d *attempt) isTest() bool { return d.Sequence == 0 }

// Deliver makes the deliveries that are due to a webhook, one after the other, for some 20 s. It does nothing where another
// process delivers to it, and where webhooks are switched off it leaves the job to another process. slow is false for the workers
// of endpoints that answer in time: an endpoint that does not is left to the others. Only jobs call it.
func (a *API) Deliver(ctx context.Context, id uuid.UUID, slow bool) error {
	if a.Sender == nil { // the process that asked for the job has webhooks on
		_, err := a.DB.SQL.ExecContext(ctx, leaveJob.Text, id)
		return err
	}
	claimed, err := db.One[struct {
		BotID uuid.UUID `db:"bot_id"`
		Taken bool      `db:"taken"`
	}](ctx, a.DB.SQL, claimWebhook, id, slow)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if claimed.Taken {
		err = a.deliverDue(ctx, id, slow)
		// Whatever becomes of ctx; a claim that stays runs out by itself.
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		_, released := a.DB.SQL.ExecContext(release, releaseWebhook.Text, id)
		err = errors.Join(err, released)
	}
	if err != nil {
		return err
	}
	return a.Queue(ctx, Scope{webhook: &id}) // what is left, came in the meantime, or had no room
}

// deliverDue delivers until nothing is due, the time is over, or the endpoint turns out to be slow or not to answer at all.
func (a *API) deliverDue(ctx context.Context, id uuid.UUID, slow bool) error {
	for began, n := time.Now(), 0; n < runDeliveries && time.Since(began) < runTime; n++ {
		d, err := db.One[attempt](ctx, a.DB.SQL, beginAttempt, id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		body, err := a.body(ctx, d)
		if err != nil {
			return err
		}
		if body == nil {
			if _, err := a.DB.SQL.ExecContext(ctx, endPending.Text, d.WebhookID, d.EventID); err != nil {
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
		if got.status == 0 || !slow && got.took >= promptTime {
			return nil
		}
	}
	return nil
}

// body returns what is sent, or nil where the event is gone: acknowledged elsewhere, or not to be delivered any more.
func (a *API) body(ctx context.Context, d *attempt) ([]byte, error) {
	content := struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		Data      wire.RawObject `json:"data"`
	}{Type: d.Kind, Timestamp: d.CreatedAt}
	if d.isTest() {
		data, err := wire.Marshal(struct {
			WebhookID uuid.UUID `json:"webhook_id"`
		}{d.WebhookID})
		if err != nil {
			return nil, err
		}
		content.Data = data
		return wire.Marshal(content)
	}
	batches, err := a.Events.Fetch(ctx, []events.Cursor{
		{Recipient: d.BotID, Version: events.LatestVersion, After: d.Sequence - 1, Known: d.Sequence - 1, Size: 1},
	})
	if err != nil {
		return nil, err
	}
	found := batches[0].Events
	if len(found) == 0 || found[0].ID != d.EventID {
		return nil, nil
	}
	content.Timestamp, content.Data = found[0].CreatedAt, found[0].AppendPayload(nil)
	return wire.Marshal(content)
}

// header is that of Standard Webhooks. The id is the event's, the same at every attempt, and the timestamp is the attempt's.
func (a *API) header(d *attempt, body []byte) http.Header {
	return http.Header{
		"Content-Type":      {"application/json"},
		"Webhook-Id":        {d.EventID.String()},
		"Webhook-Timestamp": {strconv.FormatInt(d.Now.Unix(), 10)},
		"Webhook-Signature": {a.sign(d, body)},
	}
}

// undo takes back an attempt that a shutdown cut off; the next one has its number.
func (a *API) undo(ctx context.Context, d *attempt) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	_, err := a.DB.SQL.ExecContext(ctx, undoAttempt.Text, d.WebhookID, d.EventID)
	return err
}

// verdict is what follows from an answer.
type verdict struct {
	outcome metrics.WebhookOutcome
	// next is when it is tried again; nil for never.
	next *time.Time
	// state is that of the webhook from now on; empty: it stays.
	state webhook.State
}

// judge decides what follows from an answer. A test is not tried again, and only 410 takes more from it than a note.
func judge(d *attempt, got answer) verdict {
	switch {
	case got.reason == "":
		return verdict{outcome: metrics.WebhookAcknowledged}
	case got.reason == reasonGone:
		return verdict{outcome: metrics.WebhookGone, state: webhook.StateGone}
	case d.isTest():
		return verdict{outcome: metrics.WebhookFailed}
	}
	wait, again := nextWait(d.Attempts, got.retryAfter)
	if !again {
		return verdict{outcome: metrics.WebhookGivenUp, state: webhook.StateFailing}
	}
	next := d.Now.Add(wait)
	return verdict{outcome: metrics.WebhookFailed, next: &next}
}
