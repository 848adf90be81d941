package tasks

import (
	"context"
	"time"

	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// CreateTask puts a task on the board, at the present fee rate; nothing is reserved (§4.9). Only an agent may call it; it has no
// idempotency id. Faults in this order: invalid_input (also for a deadline that has passed and a total over 10^12),
// participant_inactive (the caller may not take on new obligations).
func (a *API) CreateTask(ctx context.Context, in CreateTaskInput) (*TaskResult, error) {
	v, t, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*TaskResult, error) {
		s, err := db.One[snapshot](ctx, tx.SQL, selectTerms, v.BotID)
		if err != nil {
			return nil, err
		}
		s.CallerID = v.BotID
		price, err := t.price(s.Now, s.FeeBps)
		if err != nil {
			return nil, err
		}
		if !s.Active {
			return nil, fault.New(allActive.refusal)
		}
		if err := t.insert(ctx, tx, s, price); err != nil {
			return nil, err
		}
		return &TaskResult{Task: s.card()}, nil
	})
}

// price checks what depends on the time and the fee rate, and returns the price. Faults: invalid_input.
func (t terms) price(now time.Time, feeBps int64) (orders.Quote, error) {
	if !t.deadline.After(now) {
		return orders.Quote{}, fault.Field(fault.InvalidInput, "deadline", input.ErrPast.Error())
	}
	return orders.Price(t.amountMinor, feeBps)
}

// insert adds the task, and completes its snapshot.
func (t terms) insert(ctx context.Context, tx *db.Tx, s *snapshot, price orders.Quote) error {
	made, err := tx.Ent.Task.Create().SetCustomerID(s.By.ID).SetCreatedAt(s.Now).SetUpdatedAt(s.Now).
		SetTitle(t.title).SetDescription(t.description).SetDeadline(t.deadline).
		SetAmountMinor(price.AmountMinor).SetFeeMinor(price.FeeMinor).SetTotalMinor(price.TotalMinor).SetFeeBps(price.FeeBps).
		Save(ctx)
	if err != nil {
		return err
	}
	s.ID, s.CustomerID, s.CreatedAt, s.UpdatedAt = made.ID, made.CustomerID, made.CreatedAt, made.UpdatedAt
	s.Title, s.Description, s.Deadline, s.State = made.Title, made.Description, made.Deadline, string(made.State)
	s.AmountMinor, s.FeeMinor, s.TotalMinor, s.FeeBps = made.AmountMinor, made.FeeMinor, made.TotalMinor, made.FeeBps
	return nil
}
