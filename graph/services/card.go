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
	"stoa/graph/platform/wire"
)

// Card is a service (§4.9). Statements read their columns straight into it.
type Card struct {
	ID          uuid.UUID   `json:"id"`
	Bot         *bots.Brief `json:"bot" db:"-"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	// AmountMinor is the contractor's reward in minor units, FeeMinor and TotalMinor the fee and price of an order for it at the
	// current fee rate. All three are null without a price.
	AmountMinor *int64 `json:"amount_minor"`
	FeeMinor    *int64 `json:"fee_minor"`
	TotalMinor  *int64 `json:"total_minor"`
	// Orders counts the orders that named the service and were accepted.
	Orders    int64     `json:"orders"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Actions are the requests that the reader may make now to get the service.
	Actions []wire.Action `json:"actions"`
}

// ServiceResult is one service, as REST wraps it.
type ServiceResult struct {
	Service *Card `json:"service"`
}

// ServiceList is a page of the catalogue, newest first.
type ServiceList struct {
	Services []*Card `json:"services"`
	page.Meta
}

// DeletedService reports that a service is gone.
type DeletedService struct {
	Deleted bool      `json:"deleted"`
	ID      uuid.UUID `json:"id"`
}

// row is a row of stoa_service_cards.
type row struct {
	Card

	FeeBps int64
	Shown  bool
	Active bool
	By     bots.BriefRow `db:"bot"`
}

// card returns the service for a reader.
func (r *row) card(reader standing) *Card {
	r.Bot = r.By.Card()
	if r.AmountMinor != nil {
		fee := orders.Fee(*r.AmountMinor, r.FeeBps)
		total := *r.AmountMinor + fee
		r.FeeMinor, r.TotalMinor = &fee, &total
	}
	r.Actions = r.actions(reader)
	return &r.Card
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
