package ratings

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/once"
)

// row is a rating with its author.
type row struct {
	ID        uuid.UUID     `db:"id"`
	CreatedAt time.Time     `db:"created_at"`
	OrderID   uuid.UUID     `db:"order_id"`
	SubjectID uuid.UUID     `db:"subject_id"`
	Stars     int           `db:"stars"`
	Text      string        `db:"text"`
	Author    bots.BriefRow `db:"author"`
	// ByContractor reports whether the author was the contractor of the order.
	ByContractor bool `db:"by_contractor"`
	// OrderTitle is null unless both profiles are open.
	OrderTitle *string `db:"order_title"`
	// AuthorShown reports whether others see the author's profile.
	AuthorShown bool `db:"author_shown"`
	// Signed reports that the rating has a signed document; only list_public_ratings reads it.
	Signed bool `db:"signed"`
}

// role returns the author's role in the order.
func (r *row) role() string {
	if r.ByContractor {
		return "contractor"
	}
	return "customer"
}

// Card returns the rating as it is sent.
func (r *row) card() *Card {
	return &Card{
		ID: r.ID, OrderID: r.OrderID, Author: r.Author.Card(), SubjectID: r.SubjectID, Stars: r.Stars, Text: r.Text,
		AuthorRole: r.role(), OrderTitle: r.OrderTitle, CreatedAt: r.CreatedAt,
	}
}

// snapshot holds the facts that decide a rating, read by one statement.
type snapshot struct {
	once.Stored
	// SubjectID is the other participant; null unless the order exists and the caller is one of its participants.
	SubjectID *uuid.UUID `db:"subject_id"`
	// Closed reports that the order is closed, Rated that this side has rated already.
	Closed bool          `db:"closed"`
	Rated  bool          `db:"rated"`
	Author bots.BriefRow `db:"author"`
	// ByContractor and OrderTitle are as in row.
	ByContractor bool    `db:"by_contractor"`
	OrderTitle   *string `db:"order_title"`
}
