package webhooks

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
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

// settle writes a verdict. The webhook may have been changed meanwhile. An attempt whose webhook was deleted or voided during it
// has no effect: the event stays in the queue.
func (a *API) settle(ctx context.Context, tx *db.Tx, d *attempt, got answer, v verdict) error {
	voided, err := db.Column[int](ctx, tx.SQL, named("lock_noted"), d.WebhookID)
	if err != nil {
		return err
	}
	if err := db.Exec(ctx, tx.SQL, named("add_time"), d.BotID, got.took.Seconds()); err != nil || len(voided) == 0 {
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
		return db.Exec(ctx, tx.SQL, named("postpone_pending"), d.WebhookID, d.EventID, v.next)
	}
	if err = db.Exec(ctx, tx.SQL, named("end_pending"), d.WebhookID, d.EventID); err != nil || v.state == "" {
		return err
	}
	return db.Exec(ctx, tx.SQL, named("switch_off"), d.WebhookID, d.URL, string(v.state), texts(causedStates[v.state]))
}

// addRecord adds the record of an attempt, which its agent sees.
func addRecord(ctx context.Context, tx *db.Tx, d *attempt, got answer, next *time.Time) error {
	return db.Exec(ctx, tx.SQL, named("add_delivery"), uuid.Must(uuid.NewV7()), d.WebhookID, d.EventID, d.Kind, d.Attempts,
		got.status, got.reason, d.Now, next)
}

// note stores the result of the attempt in the webhook's row, which is locked.
func note(ctx context.Context, tx *db.Tx, d *attempt, got answer) error {
	took := got.took.Seconds()
	if got.reason == "" {
		return db.Exec(ctx, tx.SQL, named("note_success"), d.WebhookID, d.URL, d.Now, got.took < promptTime, took)
	}
	var notBefore *time.Time
	if got.retryAfter > 0 && d.isRetried() {
		notBefore = new(d.Now.Add(got.retryAfter))
	}
	return db.Exec(ctx, tx.SQL, named("note_failure"), d.WebhookID, d.Now, got.status, got.reason,
		got.status != nil && got.took < promptTime, took, notBefore, texts(auth.Endings))
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

// Card is a webhook as its agent sees it (§4.12).
type Card struct {
	ID    uuid.UUID `json:"id"`
	URL   string    `json:"url"`
	Kinds []string  `json:"kinds"`
	// Own reports that the webhook also gets events that its agent caused itself.
	Own bool `json:"own"`
	// Signing is v1a (the server's ed25519 key) or v1 (HMAC with the webhook's secret).
	Signing string `json:"signing"`
	// State is active, paused, failing or gone.
	State     string    `json:"state"`
	CreatedAt time.Time `json:"created_at"`
	// LastSuccessAt is null before the first success, LastFailure before the first failure.
	LastSuccessAt *time.Time `json:"last_success_at"`
	LastFailure   *Failure   `json:"last_failure"`
}

// Failure is the result of the last failed attempt.
type Failure struct {
	At time.Time `json:"at"`
	// Status is the HTTP status of the answer, or null.
	Status *int `json:"status"`
	// Error is one of the reasons of §4.12.
	Error string `json:"error"`
}

// Result is one webhook, as REST wraps it.
type Result struct {
	Webhook *Card `json:"webhook"`
}

// SecretResult is a webhook with its new secret.
type SecretResult struct {
	Webhook *Card `json:"webhook"`
	// Secret is shown only here; null if the server's key signs.
	Secret *string `json:"secret"`
}

// List holds all webhooks of an agent, newest first.
type List struct {
	Webhooks []*Card `json:"webhooks"`
}

// Deleted is the answer of DeleteWebhook.
type Deleted struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}

// Test names the test that is being sent.
type Test struct {
	EventID uuid.UUID `json:"event_id"`
}

// Delivery is one attempt, as it ended. Statements read their columns straight into it.
type Delivery struct {
	ID      uuid.UUID `json:"id" db:"id"`
	EventID uuid.UUID `json:"event_id" db:"event_id"`
	// Attempt is 1 for the first.
	Attempt int `json:"attempt" db:"attempt"`
	// Status is the HTTP status of the answer, or null.
	Status *int `json:"status" db:"status"`
	// Error is one of the reasons of §4.12, null if the event was acknowledged.
	Error     *string   `json:"error" db:"error"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
	// NextAttemptAt is null if no further attempt follows.
	NextAttemptAt *time.Time `json:"next_attempt_at" db:"next_attempt_at"`
}

// DeliveryList is a page of attempts, newest first.
type DeliveryList struct {
	Deliveries []*Delivery `json:"deliveries"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

func newCard(w *ent.Webhook) *Card {
	card := &Card{
		ID: w.ID, URL: w.URL, Kinds: w.Kinds, Own: w.Own, Signing: string(w.Signing), State: string(w.State), CreatedAt: w.CreatedAt,
		LastSuccessAt: w.LastSuccessAt,
	}
	if w.LastFailureAt != nil {
		card.LastFailure = &Failure{*w.LastFailureAt, w.LastFailureStatus, w.LastFailureError}
	}
	return card
}
