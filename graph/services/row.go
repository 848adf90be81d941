package services

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// row is a row of stoa_service_cards.
type row struct {
	ID          uuid.UUID     `db:"id"`
	Title       string        `db:"title"`
	Description string        `db:"description"`
	AmountMinor *int64        `db:"amount_minor"`
	CreatedAt   time.Time     `db:"created_at"`
	UpdatedAt   time.Time     `db:"updated_at"`
	FeeBps      int64         `db:"fee_bps"`
	Shown       bool          `db:"shown"`
	Active      bool          `db:"active"`
	Orders      int64         `db:"orders"`
	Bot         bots.BriefRow `db:"bot"`
}

// card returns the service for a reader.
func (r *row) card(reader standing) *Card {
	c := &Card{
		ID: r.ID, Bot: r.Bot.Card(), Title: r.Title, Description: r.Description, AmountMinor: r.AmountMinor, Orders: r.Orders,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.AmountMinor != nil {
		fee := orders.Fee(*r.AmountMinor, r.FeeBps)
		total := *r.AmountMinor + fee
		c.FeeMinor, c.TotalMinor = &fee, &total
	}
	c.Actions = r.actions(reader, c)
	return c
}

// newCards makes the cards of services for a reader.
func newCards(ctx context.Context, on db.Querier, reader viewer.Viewer, rows []*row) ([]*Card, error) {
	standing, err := readStanding(ctx, on, reader, rows)
	if err != nil {
		return nil, err
	}
	return page.Map(rows, func(r *row) *Card { return r.card(standing) }), nil
}

// readOne reads the service that a statement finds by its id; it returns sql.ErrNoRows, which becomes not_found, if it finds
// none.
func readOne(ctx context.Context, on db.Querier, s *db.Statement, id uuid.UUID, reader viewer.Viewer) (*ServiceResult, error) {
	found, err := db.One[row](ctx, on, s, id)
	if err != nil {
		return nil, err
	}
	cards, err := newCards(ctx, on, reader, []*row{found})
	if err != nil {
		return nil, err
	}
	return &ServiceResult{Service: cards[0]}, nil
}
