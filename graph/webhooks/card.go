package webhooks

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
)

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
