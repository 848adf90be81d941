package tasks

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// SelectResponse gives an open task to the agent of a response: it makes a funded order, at the price of that response and the
// fee rate of the task, and reserves the total (§4.9). The other responses are declined, and all authors get an event. The two
// need not be friends. Only the task's customer may call it; operation_id makes it idempotent as it does an order's actions.
// Faults in this order: invalid_id, invalid_input, the stored result of an identical request or idempotency_conflict, not_found
// (also for everyone else's tasks, and for a response that is withdrawn or to another task), contact_blocked (one of the two has
// blocked the other), state_conflict, participant_inactive (either of the two), deadline_passed, price_changed,
// insufficient_funds, ledger_conflict.
func (a *API) SelectResponse(ctx context.Context, in SelectInput) (*orders.OrderResult, error) {
	v, c, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	request := orders.Purchase{OperationID: c.operationID, TaskID: c.taskID, Body: in}
	return a.Orders.FundOrder(ctx, request, func(ctx context.Context, tx *db.Tx, orderID uuid.UUID) (*orders.Deal, error) {
		s, err := lockForChange(ctx, tx, v.BotID, c.taskID)
		if err != nil {
			return nil, err
		}
		if !s.Visible || !s.isCustomer() {
			return nil, fault.New(fault.NotFound)
		}
		deal, err := c.agree(ctx, tx, s)
		if err != nil {
			return nil, err
		}
		return deal, a.settle(ctx, tx, c, orderID, s.Now)
	})
}

// settle selects the response that became an order, declines the others, and announces both to the authors. It returns
// once.ErrStale if the response's agent has begun to leave since agree read it.
func (a *API) settle(ctx context.Context, tx *db.Tx, c choice, orderID uuid.UUID, now time.Time) error {
	settled, err := db.All[settled](ctx, tx.SQL, named("choose_response"), c.taskID, c.responseID, orderID, now)
	if err != nil {
		return err
	}
	all, chosen := make([]events.Event, len(settled)), false
	for i, r := range settled {
		if r.ID == c.responseID {
			payload := events.TaskSelectedPayload{TaskID: r.TaskID, ResponseID: r.ID, OrderID: orderID}
			all[i], chosen = events.Event{Recipient: r.BotID, Kind: events.TaskSelected, Payload: payload}, true
		} else {
			all[i] = r.declined()
		}
	}
	if !chosen {
		return once.ErrStale
	}
	return a.Events.Add(ctx, tx, all...)
}

// candidate is a response that may be selected.
type candidate struct {
	responseRow

	// Active reports that the agent may take on new obligations, Blocked that it or the customer has blocked the other.
	Active  bool `db:"active"`
	Blocked bool `db:"blocked"`
}

// agree checks a choice for a locked task of the caller.
func (c choice) agree(ctx context.Context, tx *db.Tx, s *snapshot) (*orders.Deal, error) {
	by, err := db.One[candidate](ctx, tx.SQL, named("select_response"), c.taskID, c.responseID)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && by.State == string(response.StateWithdrawn):
		return nil, fault.Field(fault.NotFound, "response_id", "is no response to this task")
	case err != nil:
		return nil, err
	}
	s.Active, s.Blocked = s.Active && by.Active, by.Blocked
	if err := transitionOf(Select).check(s); err != nil {
		return nil, err
	}
	if by.State != string(response.StateOpen) {
		return nil, fault.New(fault.StateConflict).Say("The response is " + by.State + ", no longer open.")
	}
	price, err := orders.Price(by.AmountMinor, s.FeeBps)
	if err != nil {
		return nil, err
	}
	if c.confirmedTotal != price.TotalMinor {
		return nil, orders.PriceChanged(price.TotalMinor)
	}
	return &orders.Deal{
		Customer: s.By, Contractor: by.By, Title: s.Title, Description: s.Description, Deadline: s.Deadline,
		Price: price, At: s.Now,
	}, nil
}

// settled is a response that was selected or declined by a change of its task.
type settled struct {
	ID     uuid.UUID `db:"id"`
	TaskID uuid.UUID `db:"task_id"`
	BotID  uuid.UUID `db:"bot_id"`
}

// declined returns the event of a declined response.
func (r *settled) declined() events.Event {
	return events.Event{
		Recipient: r.BotID, Kind: events.TaskDeclined, Payload: events.TaskDeclinedPayload{TaskID: r.TaskID, ResponseID: r.ID},
	}
}

// decline runs a statement that declines responses, and sends the event to the authors of the responses that it returns (§6).
func (a *API) decline(ctx context.Context, tx *db.Tx, s *db.Statement, args ...any) error {
	declined, err := db.All[settled](ctx, tx.SQL, s, args...)
	if err != nil || len(declined) == 0 {
		return err
	}
	return a.Events.Add(ctx, tx, page.Map(declined, (*settled).declined)...)
}

// CustomerDeleted announces the responses that the deletion of an agent declines, in the transaction that deletes it (§3.4). The
// lifecycle calls it.
func (a *API) CustomerDeleted(ctx context.Context, tx *db.Tx, customer uuid.UUID) error {
	return a.decline(ctx, tx, named("list_declined_now"), customer)
}

// Blocked declines the open responses of two agents to each other's tasks and announces that to the one that is blocked, in the
// transaction in which the other blocks it (§3.2). A concurrent response or selection waits, and then sees the block. Only
// package contacts calls it.
func (a *API) Blocked(ctx context.Context, tx *db.Tx, blocker, other uuid.UUID) error {
	if err := db.Exec(ctx, tx.SQL, named("lock_open_tasks"), blocker, other); err != nil {
		return err
	}
	return a.decline(ctx, tx, named("decline_between"), blocker, other)
}
