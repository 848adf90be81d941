package webhooks

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/platform/db"
)

// record stores how an attempt ended, with all consequences, in one transaction, even if ctx is cancelled. If the database is
// unavailable it retries for 10 s, because an acknowledged delivery that is not stored as such would be sent again.
func (a *API) record(ctx context.Context, d *attempt, got answer) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	v := judge(d, got)
	a.Attempts.Done(got.took, v.outcome)
	return db.RetryUnavailable(ctx, func(ctx context.Context) error {
		return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error { return a.settle(ctx, tx, d, got, v) })
	})
}

// settle writes a verdict. The webhook may have been changed meanwhile. An attempt whose webhook was deleted or voided during it has
// no effect: the event stays in the queue.
func (a *API) settle(ctx context.Context, tx *db.Tx, d *attempt, got answer, v verdict) error {
	voided, err := db.Column[int](ctx, tx.SQL, named("lock_noted"), d.WebhookID)
	if err != nil {
		return err
	}
	if _, err := tx.SQL.ExecContext(ctx, named("add_time").Text, d.BotID, got.took.Seconds()); err != nil || len(voided) == 0 {
		return err
	}
	if voided[0] != d.Voided {
		got.reason = reasonPaused
		return addRecord(ctx, tx, d, got, nil)
	}
	if err := note(ctx, tx, d, got); err != nil {
		return err
	}
	if got.reason == "" && !d.isTest() {
		if err := a.Events.AcknowledgeDelivered(ctx, tx, d.BotID, d.EventID); err != nil {
			return err
		}
	}
	if err := addRecord(ctx, tx, d, got, v.next); err != nil {
		return err
	}
	if v.next != nil {
		_, err = tx.SQL.ExecContext(ctx, named("postpone_pending").Text, d.WebhookID, d.EventID, v.next)
		return err
	}
	if _, err = tx.SQL.ExecContext(ctx, named("end_pending").Text, d.WebhookID, d.EventID); err != nil || v.state == "" {
		return err
	}
	switched, err := db.Column[uuid.UUID](ctx, tx.SQL, named("switch_off"), d.WebhookID, d.URL, string(v.state), texts(downfalls[v.state]))
	if err != nil || len(switched) == 0 {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, named("drop_events").Text, d.WebhookID)
	return err
}

// addRecord adds the record of an attempt, which its agent sees.
func addRecord(ctx context.Context, tx *db.Tx, d *attempt, got answer, next *time.Time) error {
	_, err := tx.SQL.ExecContext(ctx, named("add_delivery").Text, uuid.Must(uuid.NewV7()), d.WebhookID, d.EventID, d.Kind, d.Attempts,
		got.statusOrNull(), got.reason, d.Now, next)
	return err
}

// note stores the result of the attempt in the webhook's row, which is locked.
func note(ctx context.Context, tx *db.Tx, d *attempt, got answer) error {
	took := got.took.Seconds()
	if got.reason == "" {
		_, err := tx.SQL.ExecContext(ctx, named("note_success").Text, d.WebhookID, d.URL, d.Now, got.took < promptTime, took)
		return err
	}
	var notBefore *time.Time
	if got.retryAfter > 0 && d.lasts() {
		at := d.Now.Add(got.retryAfter)
		notBefore = &at
	}
	_, err := tx.SQL.ExecContext(ctx, named("note_failure").Text, d.WebhookID, d.Now, got.statusOrNull(), got.reason,
		got.status != 0 && got.took < promptTime, took, notBefore, texts(auth.Endings))
	return err
}

// waits are the waits after the first, second, … failed attempt. The attempt after the last wait is the last.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

// maxRetryAfter is the longest pause that an endpoint may ask for.
const maxRetryAfter = 24 * time.Hour

// nextWait returns the wait after a failed attempt; false if it was the last. An endpoint that asked for a longer wait gets it.
func nextWait(attempts int, retryAfter time.Duration) (wait time.Duration, again bool) {
	if attempts > len(waits) {
		return 0, false
	}
	return max(waits[attempts-1], retryAfter), true
}

// parseRetryAfter reads the header of an answer: seconds, or a time. It returns 0 if the header is missing or invalid.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds > int(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
