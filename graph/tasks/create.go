package tasks

import (
	"context"
	"time"

	"stoa/ent"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// conditions of a new task, the present ones: the clock, the fee rate, and its customer $1 with whether it is active.
var conditions = `SELECT stoa_now(), s.fee_bps, stoa_active(c), ` + customer + ` FROM settings s JOIN bots c ON c.id = $1`

// CreateTask puts a task on the board, at the present fee rate; nothing is reserved (§4.9). Only an agent may call it; it has no
// idempotency id. Faults in this order: invalid_input (also for a deadline that has passed and a total over 10^12),
// participant_inactive (the caller may not take on new obligations).
func (a *API) CreateTask(ctx context.Context, in CreateTaskInput) (*TaskResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	t, err := in.Check()
	if err != nil {
		return nil, err
	}
	s := situation{caller: &v.BotID}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		var feeBps int64
		targets := append([]any{&s.now, &feeBps, &s.active}, s.customer.Targets()...)
		if err := tx.SQL.QueryRowContext(ctx, conditions, v.BotID).Scan(targets...); err != nil {
			return err
		}
		price, err := t.price(s.now, feeBps)
		if err != nil {
			return err
		}
		if !s.active {
			return fault.New(allActive.refusal)
		}
		made, err := t.insert(ctx, tx, &s, price)
		if err == nil {
			s.task = *made.Unwrap()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: newCard(&s)}, nil
}

// price judges what of the terms depends on the moment.
func (t terms) price(now time.Time, feeBps int64) (orders.Quote, error) {
	if !t.deadline.After(now) {
		return orders.Quote{}, fault.Field(fault.InvalidInput, "deadline", errPast.Error())
	}
	return orders.Price(t.amountMinor, feeBps)
}

func (t terms) insert(ctx context.Context, tx *db.Tx, s *situation, price orders.Quote) (*ent.Task, error) {
	return tx.Ent.Task.Create().SetCustomerID(s.customer.ID).SetCreatedAt(s.now).SetUpdatedAt(s.now).
		SetTitle(t.title).SetDescription(t.description).SetDeadline(t.deadline).
		SetAmountMinor(price.AmountMinor).SetFeeMinor(price.FeeMinor).SetTotalMinor(price.TotalMinor).SetFeeBps(price.FeeBps).
		Save(ctx)
}
