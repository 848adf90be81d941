package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/orderevent"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// OrderInput names an order in the path.
type OrderInput struct {
	OrderID string `path:"order_id" json:"-"`
}

// check returns invalid_id for a malformed id.
func (in OrderInput) check() (uuid.UUID, error) {
	id, err := text.UUID(in.OrderID)
	if err != nil {
		return uuid.Nil, fault.Field(fault.InvalidID, "order_id", err.Error())
	}
	return id, nil
}

// Event is one step of an order's history (§2.6).
type Event struct {
	// Action is create, select or the action's name.
	Action        string    `json:"action"`
	ParticipantID uuid.UUID `json:"participant_id"`
	// State and Version are what the step led to.
	State     string    `json:"state"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	Reason    *string   `json:"reason"`
}

// Detail is an order with its history, oldest step first.
type Detail struct {
	Order  *Card    `json:"order"`
	Events []*Event `json:"events"`
}

var one = `SELECT ` + columns + `, ` + facts + ` FROM orders o` + parties + ` WHERE o.id = $1 AND $2 IN (o.customer_id, o.contractor_id)`

// Order returns an order of the caller's with its history (§4.7). Only one of the two participants may read it; for everyone
// else it is not_found. Faults: invalid_id, not_found.
func (a *API) Order(ctx context.Context, in OrderInput) (*Detail, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	var s situation
	if err := a.DB.SQL.QueryRowContext(ctx, one, id, v.BotID).Scan(s.targets()...); err != nil {
		return nil, err
	}
	if err := showFiles(ctx, a.DB.SQL, v.BotID, &s); err != nil {
		return nil, err
	}
	// A step taken between the two reads belongs to the next card.
	steps, err := a.DB.Ent.OrderEvent.Query().Where(orderevent.OrderID(id), orderevent.VersionLTE(s.order.Version)).
		Order(orderevent.ByVersion()).All(ctx)
	if err != nil {
		return nil, err
	}
	detail := &Detail{Order: newCard(&s, v.BotID), Events: make([]*Event, len(steps))}
	for i, e := range steps {
		detail.Events[i] = &Event{
			Action: e.Action, ParticipantID: e.ParticipantID, State: e.State, Version: e.Version, CreatedAt: e.CreatedAt, Reason: e.Reason,
		}
	}
	return detail, nil
}
