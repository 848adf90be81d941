package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// candidate is the response $1 to the task $2, with its agent and whether that one is active.
var candidate = `
SELECT r.amount_minor, stoa_active(b), ` + responder + ` FROM responses r JOIN bots b ON b.id = r.bot_id WHERE r.id = $1 AND r.task_id = $2`

// choose selects the response $2 to the task $1, which becomes the order $3, and declines the others.
const choose = `
WITH selected AS (UPDATE tasks SET state = 'selected', order_id = $3, updated_at = $4 WHERE id = $1)
UPDATE responses SET state = CASE WHEN id = $2 THEN 'selected' ELSE 'declined' END WHERE task_id = $1`

// SelectResponse gives an open task to the agent of a response: it makes an order that is funded already, at the price of that
// response and the fee rate of the task, and reserves the total (§4.9). The two need not be friends. Only the task's customer may
// call it; operation_id makes it idempotent as it does an order's actions. Faults in this order: invalid_id, invalid_input, the
// stored result of an identical request or idempotency_conflict, not_found (also for everyone else's tasks, and for a response
// to another one), state_conflict, participant_inactive (either of the two), deadline_passed, price_changed, insufficient_funds,
// ledger_conflict.
func (a *API) SelectResponse(ctx context.Context, in SelectInput) (*orders.OrderResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	c, err := in.Check()
	if err != nil {
		return nil, err
	}
	request := orders.Purchase{OperationID: c.operationID, TaskID: c.taskID, Body: in.canonical()}
	return a.Orders.FundOrder(ctx, request, func(ctx context.Context, tx *db.Tx, orderID uuid.UUID) (*orders.Deal, error) {
		s, shown, err := locked(ctx, tx, v.BotID, c.taskID)
		if err != nil {
			return nil, err
		}
		if !shown || !s.isCustomer() {
			return nil, fault.New(fault.NotFound)
		}
		deal, err := c.agree(ctx, tx, s)
		if err != nil {
			return nil, err
		}
		_, err = tx.SQL.ExecContext(ctx, choose, c.taskID, c.responseID, orderID, s.now)
		return deal, err
	})
}

// agree judges a choice for a locked task of the caller's.
func (c choice) agree(ctx context.Context, tx *db.Tx, s *situation) (*orders.Deal, error) {
	var (
		amount int64
		ready  bool
		by     bots.BriefRow
	)
	err := tx.SQL.QueryRowContext(ctx, candidate, c.responseID, c.taskID).Scan(append([]any{&amount, &ready}, by.Targets()...)...)
	if err != nil {
		return nil, err
	}
	s.active = s.active && ready
	if err := find(Select).refuse(s); err != nil {
		return nil, err
	}
	price, err := orders.Price(amount, s.task.FeeBps)
	if err != nil {
		return nil, err
	}
	if c.confirmedTotal != price.TotalMinor {
		return nil, fault.New(fault.PriceChanged)
	}
	return &orders.Deal{
		Customer: s.customer, Contractor: by, Title: s.task.Title, Description: s.task.Description, Deadline: s.task.Deadline,
		Price: price, At: s.now,
	}, nil
}
