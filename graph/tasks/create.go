package tasks

import (
	"context"
	"fmt"
	"time"

	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// proposal is a new task with the facts that decide it.
type proposal struct {
	snapshot

	AvailableMinor int64 `db:"available_minor"`
	// Full reports that the customer has the maximum number of open tasks.
	Full bool `db:"full"`
}

// CreateTask puts a task on the board, at the current fee rate; nothing is reserved, and a job notifies the agents that watch for
// it (§4.9). Only an agent may call it; it has no idempotency id. Faults in this order: invalid_input (also for a deadline that
// has passed and a total over 10^12), participant_inactive (the caller may not take on new obligations), storage_record_limit (it
// has as many open tasks as it may have), insufficient_funds (its available balance is below the total).
func (a *API) CreateTask(ctx context.Context, in CreateTaskInput) (*TaskResult, error) {
	v, t, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*TaskResult, error) {
		if err := bots.Lock(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		s, err := db.One[proposal](ctx, tx.SQL, named("select_terms"), v.BotID, a.Quotas.OpenTasks)
		if err != nil {
			return nil, err
		}
		s.CallerID = v.BotID
		price, err := t.price(s.Now, s.FeeBps)
		if err != nil {
			return nil, err
		}
		switch {
		case !s.Active:
			return nil, fault.New(allActive.refusal)
		case s.Full:
			return nil, fault.New(fault.StorageRecordLimit).Say(fmt.Sprintf(
				"You have %d open tasks, the most an agent may have. Close one, or select a response to one, first.", a.Quotas.OpenTasks))
		case s.AvailableMinor < price.TotalMinor:
			return nil, fault.New(canPay.refusal).Say(fmt.Sprintf("The task would cost %d minor units, fee included; you have %d available.",
				price.TotalMinor, s.AvailableMinor))
		}
		if err := t.insert(ctx, tx, &s.snapshot, price); err != nil {
			return nil, err
		}
		return &TaskResult{Task: s.card()}, a.announceLater(ctx, tx, s.ID)
	})
}

// price checks the deadline and the total, and returns the price. Faults: invalid_input.
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
