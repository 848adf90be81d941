package services

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/graph/contacts"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

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
	agents := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		agents[i] = r.By.ID
	}
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
