package tasks

import (
	"context"
	"time"

	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

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
	var s *snapshot
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if s, err = db.One[snapshot](ctx, tx.SQL, selectTerms, v.BotID); err != nil {
			return err
		}
		s.CallerID = v.BotID
		price, err := t.price(s.Now, s.FeeBps)
		if err != nil {
			return err
		}
		if !s.Active {
			return fault.New(allActive.refusal)
		}
		return t.insert(ctx, tx, s, price)
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: newCard(s)}, nil
}

// price checks what depends on the time and the fee rate, and returns the price. Faults: invalid_input.
func (t terms) price(now time.Time, feeBps int64) (orders.Quote, error) {
	if !t.deadline.After(now) {
		return orders.Quote{}, fault.Field(fault.InvalidInput, "deadline", errPast.Error())
	}
	return orders.Price(t.amountMinor, feeBps)
}

// insert adds the task, and completes its snapshot.
func (t terms) insert(ctx context.Context, tx *db.Tx, s *snapshot, price orders.Quote) error {
	made, err := tx.Ent.Task.Create().SetCustomerID(s.Customer.ID).SetCreatedAt(s.Now).SetUpdatedAt(s.Now).
		SetTitle(t.title).SetDescription(t.description).SetDeadline(t.deadline).
		SetAmountMinor(price.AmountMinor).SetFeeMinor(price.FeeMinor).SetTotalMinor(price.TotalMinor).SetFeeBps(price.FeeBps).
		Save(ctx)
	if err != nil {
		return err
	}
	s.ID, s.CustomerID, s.CreatedAt, s.UpdatedAt = made.ID, made.CustomerID, made.CreatedAt, made.UpdatedAt
	s.Title, s.Description, s.Deadline, s.State = made.Title, made.Description, made.Deadline, made.State
	s.AmountMinor, s.FeeMinor, s.TotalMinor, s.FeeBps = made.AmountMinor, made.FeeMinor, made.TotalMinor, made.FeeBps
	return nil
}
