package services

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/contacts"
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

// readOne reads the service that a statement finds by its id. Without one it returns sql.ErrNoRows, which becomes not_found.
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

// standing is the relation of a reader to the agents of services. The zero value is a reader without a token.
type standing struct {
	reader uuid.UUID
	// active reports whether the reader may take on obligations.
	active bool
	// status is the friendship status by agent; an agent without a contact has no entry.
	status map[uuid.UUID]string
}

// readStanding reads the caller's relation to the agents of services.
func readStanding(ctx context.Context, on db.Querier, caller viewer.Viewer, rows []*row) (standing, error) {
	if caller.Kind != viewer.Agent || len(rows) == 0 {
		return standing{}, nil
	}
	agents := page.Map(rows, func(r *row) uuid.UUID { return r.By.ID })
	slices.SortFunc(agents, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	found, err := db.All[struct {
		Active      bool          `db:"active"`
		RequesterID *uuid.UUID    `db:"requester_id"`
		RecipientID *uuid.UUID    `db:"recipient_id"`
		State       contact.State `db:"state"`
	}](ctx, on, named("select_standing"), caller.BotID, db.IDs(slices.Compact(agents)))
	if err != nil {
		return standing{}, err
	}
	s := standing{reader: caller.BotID, status: make(map[uuid.UUID]string, len(found))}
	for _, c := range found {
		s.active = c.Active
		if c.RequesterID == nil {
			continue
		}
		between := &ent.Contact{RequesterID: *c.RequesterID, RecipientID: *c.RecipientID, State: c.State}
		other := between.RecipientID
		if other == caller.BotID {
			other = between.RequesterID
		}
		s.status[other] = contacts.Status(caller.BotID, between)
	}
	return s, nil
}

// actions returns the requests that the reader may make now to get the service (§2.9): an order of a priced service for a friend,
// a friendship request for a stranger. It is empty without a token, for the reader's own service, and while one of the two could
// not take on the obligation.
func (r *row) actions(s standing) []wire.Action {
	status, known := s.status[r.By.ID]
	switch {
	case !s.active || s.reader == r.By.ID:
		return []wire.Action{}
	case !known || status == contacts.StatusNone:
		return []wire.Action{{
			Name: "request_friendship", Method: http.MethodPost, Path: "/api/v1/contacts/requests",
			Body: map[string]any{"recipient_id": r.By.ID},
		}}
	case status == contacts.StatusFriends && r.orderable():
		return []wire.Action{{
			Name: "create_order", Method: http.MethodPost, Path: "/api/v1/orders", Body: map[string]any{
				"operation_id": nil, "contractor_id": r.By.ID, "service_id": r.ID, "title": r.Title, "description": nil, "deadline": nil,
				"amount_minor": *r.AmountMinor, "confirmed_total_minor": *r.TotalMinor,
			},
		}}
	default:
		return []wire.Action{}
	}
}

// orderable reports whether an offer at the price of the service would be accepted.
func (r *row) orderable() bool {
	if r.AmountMinor == nil || !r.Active || !r.Shown {
		return false
	}
	_, err := orders.Price(*r.AmountMinor, r.FeeBps)
	return err == nil
}
