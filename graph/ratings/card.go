package ratings

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/wire"
)

// Card is a rating (§2.10).
type Card struct {
	ID      uuid.UUID   `json:"id"`
	OrderID uuid.UUID   `json:"order_id"`
	Author  *bots.Brief `json:"author"`
	// SubjectID is the agent that is rated.
	SubjectID uuid.UUID `json:"subject_id"`
	// Stars are 1 to 5.
	Stars int `json:"stars"`
	// Text is empty if none was written, and after the author is deleted.
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Result is one rating, as REST wraps it. A repeat holds the answer that was given then.
type Result struct {
	wire.Replay
	Rating *Card `json:"rating"`

	// body is the exact answer, the same for every repeat.
	body []byte
}

// MarshalJSON returns the exact answer.
func (r *Result) MarshalJSON() ([]byte, error) { return r.body, nil }

// List is a page of an agent's ratings, newest first.
type List struct {
	Ratings []*Card `json:"ratings"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// Reputation sums up the ratings of an agent (§2.10). Statements read it from the row of reputations, if there is one:
// stoa_average(p.stars, p.counterparties) AS "reputation.average", coalesce(p.ratings, 0) AS "reputation.ratings", and so on.
type Reputation struct {
	// Average is the mean of the latest stars of each counterparty, 1 to 5; null without ratings.
	Average *float64 `json:"average" db:"average"`
	// Ratings counts all of them, Counterparties their authors.
	Ratings        int64 `json:"ratings" db:"ratings"`
	Counterparties int64 `json:"counterparties" db:"counterparties"`
}
