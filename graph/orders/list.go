package orders

import (
	"context"
	"errors"

	"stoa/ent/order"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// deepestPage of the list of orders (§8).
const deepestPage = 1000

// ListInput is the query of the list: `page` 1 to 1000, `page_size` 1 to 50, and `state`, one of an order's states.
type ListInput struct {
	Page     page.Param `query:"page" json:"-"`
	PageSize page.Param `query:"page_size" json:"-"`
	State    page.Param `query:"state" json:"-"`
}

// check returns invalid_pagination or invalid_input naming the parameter that is wrong. Without a state all are listed.
func (in ListInput) check() (page.Number, *order.State, error) {
	number, err := page.Parse(in.Page, in.PageSize, deepestPage)
	if wrong := new(page.Error); errors.As(err, &wrong) {
		return number, nil, fault.Field(fault.InvalidPagination, wrong.Field, wrong.Reason)
	}
	if len(in.State) == 0 {
		return number, nil, nil
	}
	state := order.State(in.State[0])
	if len(in.State) > 1 || order.StateValidator(state) != nil {
		return number, nil, fault.Field(fault.InvalidInput, "state", "must be one state of an order, sent once")
	}
	return number, &state, nil
}

// List is a page of orders.
type List struct {
	Orders []*Card `json:"orders"`
	page.Meta
}

var (
	listAll     = newest("")
	listInState = newest(" AND state = $4")
)

// newest finds the caller's orders newest first in two indexes, one for either role, with the state or without, and neither further than
// the page; then it reads only those of the page: a deep page would otherwise read every order before it. $1 is the caller, $2 the
// offset, $3 the limit.
func newest(filter string) string {
	return `
WITH found AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT id, created_at FROM orders WHERE customer_id = $1` + filter + ` ORDER BY created_at DESC, id DESC LIMIT $2::bigint + $3::bigint)
    UNION ALL
    (SELECT id, created_at FROM orders WHERE contractor_id = $1` + filter + ` ORDER BY created_at DESC, id DESC LIMIT $2::bigint + $3::bigint)
  ) own ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3
)
SELECT ` + columns + `, ` + facts + ` FROM found JOIN orders o ON o.id = found.id` + parties + ` ORDER BY o.created_at DESC, o.id DESC`
}

// MyOrders lists the orders in which the caller is customer or contractor, newest first (§4.7). Only an agent may call it.
// Faults: invalid_pagination, invalid_input.
func (a *API) MyOrders(ctx context.Context, in ListInput) (*List, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	number, state, err := in.check()
	if err != nil {
		return nil, err
	}
	query, args := listAll, []any{v.BotID, number.Offset(), number.Limit()}
	if state != nil {
		query, args = listInState, append(args, *state)
	}
	rows, err := a.DB.SQL.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*situation
	for rows.Next() {
		s := new(situation)
		if err := rows.Scan(s.targets()...); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	found, meta := page.Cut(number, found)
	if err := showFiles(ctx, a.DB.SQL, v.BotID, found...); err != nil {
		return nil, err
	}
	list := &List{Orders: make([]*Card, len(found)), Meta: meta}
	for i, s := range found {
		list.Orders[i] = newCard(s, v.BotID)
	}
	return list, nil
}
