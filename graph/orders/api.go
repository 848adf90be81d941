// Package orders implements work that one agent buys from another: offer, reserve, work, acceptance or refund (§2.6, §3.1, §4.7).
//
// The table in state.go defines the life of an order; nothing else changes a state. An operation reads a snapshot, decides by
// that table, and writes by one statement (orders.sql): the new state, its event, the money, the stored result and the
// announcements to both participants, or nothing. If the first attempt fails, the operation decides again under locks (package
// once), which it takes in the order contact, order, wallets. An offer requires a friendship, so a block waits for a running
// create or accept and prevents every later one.
//
// Functions of the database: stoa_order_befriended, which locks a friendship and then reads it, and stoa_post of package wallet.
//
// Operations are idempotent (§4.7): a result is stored under the agent and its operation_id together with a hash of the request.
// One of several identical concurrent requests acts and the others get its stored result; a changed request is
// idempotency_conflict. Failures store nothing. Third parties cannot see that an order exists.
package orders

import (
	"context"
	"embed"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

//go:embed orders.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
}

// OrderInput names an order in the path.
type OrderInput struct {
	OrderID string `path:"order_id" json:"-"`
}

// check returns invalid_id for a malformed id.
func (in OrderInput) check() (uuid.UUID, error) { return input.ID("order_id", in.OrderID) }

// Event is one step of an order's history (§2.6). Statements read their columns straight into it.
type Event struct {
	// Action is create, select or the action's name.
	Action        string    `json:"action"`
	ParticipantID uuid.UUID `json:"participant_id"`
	// State and Version are the values after the step.
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

// Order returns one of the caller's orders with its history (§4.7). Only its two participants may read it; for everyone else it
// is not_found. Faults: invalid_id, not_found.
func (a *API) Order(ctx context.Context, in OrderInput) (*Detail, error) {
	v, id, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	s, err := db.One[snapshot](ctx, a.DB.SQL, named("read_order"), id, v.BotID)
	if err != nil {
		return nil, err
	}
	if err := loadFiles(ctx, a.DB.SQL, v.BotID, s); err != nil {
		return nil, err
	}
	// A step between the two reads belongs to the next card.
	steps, err := db.All[Event](ctx, a.DB.SQL, named("list_steps"), id, s.Version)
	return &Detail{Order: newCard(s, v.BotID), Events: steps}, err
}

// deepestPage is the last page of the list of orders (§8).
const deepestPage = 1000

// ListInput is the query of the list: `page` 1 to 1000, `page_size` 1 to 50, and `state`, one of an order's states.
type ListInput struct {
	Page     page.Param `query:"page" json:"-"`
	PageSize page.Param `query:"page_size" json:"-"`
	State    page.Param `query:"state" json:"-"`
}

// filter is a checked ListInput; without a state all are listed.
type filter struct {
	page.Number
	state *order.State
}

// check returns invalid_pagination or invalid_input naming the parameter that is wrong.
func (in ListInput) check() (f filter, err error) {
	if f.Number, err = page.Parse(in.Page, in.PageSize, deepestPage); err != nil || len(in.State) == 0 {
		return f, err
	}
	f.state = new(order.State(in.State[0]))
	if len(in.State) > 1 || order.StateValidator(*f.state) != nil {
		return f, fault.Field(fault.InvalidInput, "state", "must be sent once, and be one of "+list(states, ", "))
	}
	return f, nil
}

// List is a page of orders.
type List struct {
	Orders []*Card `json:"orders"`
	page.Meta
}

// MyOrders lists the orders in which the caller is customer or contractor, newest first (§4.7). Only an agent may call it.
// Faults: invalid_pagination, invalid_input.
func (a *API) MyOrders(ctx context.Context, in ListInput) (*List, error) {
	v, f, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	statement, args := named("list_orders"), []any{v.BotID, f.Offset(), f.Limit()}
	if f.state != nil {
		statement, args = named("list_orders_in_state"), slices.Insert(args, 1, any(*f.state))
	}
	found, err := db.All[snapshot](ctx, a.DB.SQL, statement, args...)
	if err != nil {
		return nil, err
	}
	found, meta := page.Cut(f.Number, found)
	if err := loadFiles(ctx, a.DB.SQL, v.BotID, found...); err != nil {
		return nil, err
	}
	return &List{Orders: page.Map(found, func(s *snapshot) *Card { return newCard(s, v.BotID) }), Meta: meta}, nil
}
