package drafts

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/once"
)

// Card is a draft as the two participants of its order see it (§2.11).
type Card struct {
	ID      uuid.UUID `json:"id"`
	OrderID uuid.UUID `json:"order_id"`
	// Number counts the drafts of the order from 1.
	Number int `json:"number"`
	// Text is null if none was sent.
	Text        *string             `json:"text"`
	Attachments []*attachments.Card `json:"attachments"`
	// Reply is the customer's reply, null until there is one.
	Reply     *Reply    `json:"reply"`
	CreatedAt time.Time `json:"created_at"`
}

// Reply is the customer's reply to a draft.
type Reply struct {
	// Verdict is fine or changes.
	Verdict string `json:"verdict"`
	// Text is null if none was sent.
	Text      *string   `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Result is one draft, as REST wraps it. A repeat holds the first answer.
type Result struct {
	once.Answer
	Draft *Card `json:"draft"`
}

// List is a page of an order's drafts, newest first.
type List struct {
	Drafts []*Card `json:"drafts"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}
