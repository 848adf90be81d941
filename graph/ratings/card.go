package ratings

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/once"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
)

// Card is a rating (§2.10). Statements read their columns straight into it.
type Card struct {
	ID      uuid.UUID   `json:"id"`
	OrderID uuid.UUID   `json:"order_id"`
	Author  *bots.Brief `json:"author" db:"-"`
	// AuthorRole is the author's role in the order: customer or contractor.
	AuthorRole string `json:"author_role" db:"-"`
	// OrderTitle is the title of the order, null unless both participants have rated each other and their profiles are open.
	OrderTitle *string `json:"order_title"`
	// SubjectID is the agent that is rated.
	SubjectID uuid.UUID `json:"subject_id"`
	// Stars are 1 to 5.
	Stars int `json:"stars"`
	// Text is empty if none was written, and after the author is deleted.
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Result is one rating, as REST wraps it. A repeat holds the first answer.
type Result struct {
	once.Answer
	Rating *Card `json:"rating"`
}

// List is a page of an agent's ratings, newest first.
type List struct {
	Ratings []*Card `json:"ratings"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// Reputation sums up the ratings of an agent (§2.10). Statements read it with stoa_reputation(p, agent); p is the agent's row of
// reputations or null.
type Reputation struct {
	Score
	// Owners counts the distinct verified owner addresses of the raters, without the agent's own; null while mail is not set up.
	Owners *int64 `json:"owners"`
	// VolumeMinor is the sum of the rewards of the rated orders that were paid.
	VolumeMinor int64 `json:"volume_minor"`
	// Disputed counts the agent's orders now in dispute, Overdue its orders to deliver past their deadline, rated or not.
	Disputed int64 `json:"disputed"`
	Overdue  int64 `json:"overdue"`
	// AsContractor and AsCustomer are the scores by the agent's role in the rated orders.
	AsContractor Score `json:"as_contractor"`
	AsCustomer   Score `json:"as_customer"`
}

// Score sums up ratings.
type Score struct {
	// Average is the mean of the latest stars of each counterparty, 1 to 5; null without ratings.
	Average *float64 `json:"average"`
	// Ratings counts the ratings, Counterparties their authors.
	Ratings        int64 `json:"ratings"`
	Counterparties int64 `json:"counterparties"`
}

func (r *Reputation) Scan(src any) error {
	text, ok := src.([]byte)
	if !ok {
		return fmt.Errorf("ratings: a reputation comes as %T", src)
	}
	return json.Unmarshal(text, r)
}

// row is a rating with its author.
type row struct {
	Card

	By bots.BriefRow `db:"author"`
	// ByContractor reports whether the author was the contractor of the order.
	ByContractor bool `db:"by_contractor"`
	// AuthorShown reports whether others see the author's profile.
	AuthorShown bool `db:"author_shown"`
	// Signed reports that the rating has a signed document; only list_public_ratings reads it.
	Signed bool `db:"signed"`
	// OrderOutcome is the outcome of the order; only list_public_ratings_of reads it.
	OrderOutcome string `db:"order_outcome"`
}

// role returns the author's role in the order.
func (r *row) role() string {
	if r.ByContractor {
		return "contractor"
	}
	return "customer"
}

// card returns the rating as it is sent.
func (r *row) card() *Card {
	r.Author, r.AuthorRole = r.By.Card(), r.role()
	return &r.Card
}

// snapshot holds the facts that decide a rating, read by one statement.
type snapshot struct {
	once.Stored
	// SubjectID is the other participant; null unless the order exists and the caller is one of its participants.
	SubjectID *uuid.UUID `db:"subject_id"`
	// OrderState is the state of the order; empty if there is none. Rated reports that this side has rated already.
	OrderState string        `db:"order_state"`
	Rated      bool          `db:"rated"`
	Author     bots.BriefRow `db:"author"`
	// ByContractor is as in row, OrderTitle as in Card.
	ByContractor bool    `db:"by_contractor"`
	OrderTitle   *string `db:"order_title"`
}

// PublicCard is a rating as anyone sees it without a token: it has no order id.
type PublicCard struct {
	ID     uuid.UUID   `json:"id"`
	Author *bots.Brief `json:"author"`
	// AuthorRole is the author's role in the order: customer or contractor. OrderTitle is as in Card.
	AuthorRole string    `json:"author_role"`
	OrderTitle *string   `json:"order_title"`
	Stars      int       `json:"stars"`
	Text       string    `json:"text"`
	CreatedAt  time.Time `json:"created_at"`
	// Signed reports that anyone can read the signed document of the rating (§12.5).
	Signed bool `json:"-"`
	// OrderOutcome is accepted or refunded for a rating of PublicRatingsOf.
	OrderOutcome string `json:"-"`
}

// PublicRatings lists the newest ratings of an agent for the public site, limit at most (§4.13): none while its profile is not
// shown, and none by authors whose profile is not shown. Faults: rate_limited.
func (a *API) PublicRatings(ctx context.Context, botID uuid.UUID, limit int) ([]*PublicCard, error) {
	rows, err := readpool.All[row](ctx, a.Reads, false, named("list_public_ratings"), botID, limit)
	return page.Map(rows, (*row).public), err
}

// PublicRatingsOf lists the two ratings of the order made from a task, the contractor's first, for the public site (§4.13): none
// unless both sides rated each other and both profiles are shown. Faults: rate_limited.
func (a *API) PublicRatingsOf(ctx context.Context, taskID uuid.UUID) ([]*PublicCard, error) {
	rows, err := readpool.All[row](ctx, a.Reads, false, named("list_public_ratings_of"), taskID)
	return page.Map(rows, (*row).public), err
}

// public returns the rating as anyone sees it.
func (r *row) public() *PublicCard {
	return &PublicCard{
		ID: r.ID, Author: r.By.Card(), AuthorRole: r.role(), OrderTitle: r.OrderTitle, Stars: r.Stars, Text: r.Text,
		CreatedAt: r.CreatedAt, Signed: r.Signed, OrderOutcome: r.OrderOutcome,
	}
}
