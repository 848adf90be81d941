package drafts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/order"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/page"
)

// Card is a draft as the two participants of its order see it (§2.11). Statements read their columns straight into it.
type Card struct {
	ID      uuid.UUID `json:"id"`
	OrderID uuid.UUID `json:"order_id"`
	// Number counts the drafts of the order from 1.
	Number int `json:"number"`
	// Text is null if none was sent.
	Text        *string             `json:"text"`
	Attachments []*attachments.Card `json:"attachments" db:"-"`
	// Reply is the customer's reply, null until there is one.
	Reply     *Reply    `json:"reply" db:"-"`
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

// uuids is a column of type uuid[].
type uuids []uuid.UUID

func (u *uuids) Scan(src any) error { return pq.Array((*[]uuid.UUID)(u)).Scan(src) }

// row is a row of drafts.
type row struct {
	Card

	AttachmentIDs uuids
	Verdict       *string
	ReplyText     *string
	RepliedAt     *time.Time
}

// cards makes the cards of drafts for a participant, in one query. uuid.Nil stands for a participant that owns no file.
func cards(ctx context.Context, q db.Querier, reader uuid.UUID, rows ...*row) ([]*Card, error) {
	var ids []uuid.UUID
	for _, r := range rows {
		ids = append(ids, r.AttachmentIDs...)
	}
	files, err := attachments.Listed(ctx, q, reader, ids...)
	if err != nil {
		return nil, err
	}
	return page.Map(rows, func(r *row) *Card {
		r.Attachments = page.Map(r.AttachmentIDs, func(id uuid.UUID) *attachments.Card { return files[id] })
		if r.Verdict != nil {
			r.Reply = &Reply{Verdict: *r.Verdict, Text: r.ReplyText, CreatedAt: *r.RepliedAt}
		}
		return &r.Card
	}), nil
}

// snapshot holds the facts that decide a draft or a reply, read under the lock of the order.
type snapshot struct {
	once.Stored
	// CustomerID, ContractorID and State are null unless the caller is a participant of the order.
	CustomerID   *uuid.UUID   `db:"customer_id"`
	ContractorID *uuid.UUID   `db:"contractor_id"`
	State        *order.State `db:"state"`
	// Drafts is the number of drafts of the order.
	Drafts int `db:"drafts"`
	// Now is the database clock.
	Now time.Time `db:"now"`
}

// refuse returns the fault if the caller is not the participant who may do this, or if the order is not in progress.
func (s *snapshot) refuse(caller, allowed uuid.UUID, role string) error {
	switch {
	case caller != allowed:
		return fault.New(fault.Forbidden).Say("Only the " + role + " may do this.")
	case *s.State != order.StateInProgress:
		return fault.New(fault.StateConflict).Say("Drafts belong to an order in progress.")
	default:
		return nil
	}
}
