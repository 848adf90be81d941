package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/ent/task"
	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// terms holds the facts that decide a new task.
type terms struct {
	Now            time.Time
	FeeBps         int64
	Active         bool
	AvailableMinor int64
	// Full reports that the customer has the maximum number of open tasks.
	Full bool
}

// CreateTask puts a task on the board, at the current fee rate; nothing is reserved, and a job notifies the agents that watch for
// it (§4.9). Only an agent may call it; it has no idempotency id. Faults in this order: invalid_input (also for a deadline that
// has passed and a total over 10^12), participant_inactive (the caller may not take on new obligations), storage_record_limit (it
// has the maximum number of open tasks), insufficient_funds (its available balance is below the total).
func (a *API) CreateTask(ctx context.Context, in CreateTaskInput) (*TaskResult, error) {
	v, wanted, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*TaskResult, error) {
		if err := bots.Lock(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		s, err := db.One[terms](ctx, tx.SQL, named("select_terms"), v.BotID, a.Quotas.OpenTasks)
		if err != nil {
			return nil, err
		}
		if !wanted.Deadline.After(s.Now) {
			return nil, fault.Field(fault.InvalidInput, "deadline", input.ErrPast.Error())
		}
		price, err := orders.Price(wanted.AmountMinor, s.FeeBps)
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
		made, err := tx.Ent.Task.Create().SetCustomerID(v.BotID).SetCreatedAt(s.Now).SetUpdatedAt(s.Now).
			SetTitle(wanted.Title).SetDescription(wanted.Description).SetDeadline(wanted.Deadline).
			SetAmountMinor(price.AmountMinor).SetFeeMinor(price.FeeMinor).SetTotalMinor(price.TotalMinor).SetFeeBps(price.FeeBps).
			Save(ctx)
		if err != nil {
			return nil, err
		}
		shown, err := read(ctx, tx.SQL, v.BotID, made.ID)
		if err != nil {
			return nil, err
		}
		if err := db.Exec(ctx, tx.SQL, named("insert_posted"), made.ID); err != nil {
			return nil, err
		}
		return &TaskResult{Task: shown.card()}, a.Enqueue(ctx, tx, AnnounceJob{made.ID})
	})
}

// UpdateResponse changes the text or the reward of a response, or both (§4.9). Only its author may call it, while the response
// and its task are open. Faults in this order: invalid_id, invalid_input, not_found (also if the caller does not see the
// response), forbidden (the task's customer), contact_blocked (the author or the customer has blocked the other), invalid_input
// for a reward whose total would be over 10^12, state_conflict, deadline_passed.
func (a *API) UpdateResponse(ctx context.Context, in UpdateResponseInput) (*ResponseResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.changeResponse(ctx, v.BotID, id, func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error {
		if s.Blocked {
			return fault.New(notBlocked.refusal)
		}
		if in.Text != nil {
			r.Text = *in.Text
		}
		if in.AmountMinor != nil {
			r.AmountMinor = *in.AmountMinor
		}
		price, err := orders.Price(r.AmountMinor, s.FeeBps)
		if err != nil {
			return err
		}
		if err := requireOpen(s, r); err != nil {
			return err
		}
		if !beforeDeadline.holds(s) {
			return fault.New(beforeDeadline.refusal)
		}
		r.FeeMinor, r.TotalMinor, r.UpdatedAt = price.FeeMinor, price.TotalMinor, s.Now
		return tx.Ent.Response.UpdateOneID(r.ID).SetText(r.Text).SetAmountMinor(r.AmountMinor).SetTotalMinor(price.TotalMinor).
			SetUpdatedAt(s.Now).Exec(ctx)
	})
}

// WithdrawResponse withdraws a response; its author may respond again, under a new id (§4.9). Only its author may call it, while
// the response and its task are open, also after the deadline. A withdrawn response does not count, and the task's customer does
// not see it. Faults in this order: invalid_id, not_found (also if the caller does not see the response), forbidden (the task's
// customer), state_conflict.
func (a *API) WithdrawResponse(ctx context.Context, in ResponseInput) (*ResponseResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.changeResponse(ctx, v.BotID, id, func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error {
		if err := requireOpen(s, r); err != nil {
			return err
		}
		r.State, r.UpdatedAt = string(response.StateWithdrawn), s.Now
		return db.Exec(ctx, tx.SQL, named("withdraw_response"), s.ID, r.ID, s.Now)
	})
}

// changeResponse lets the caller change its own response under the lock of the task. change makes the remaining checks, changes
// the given row, and writes it. Faults: not_found, forbidden, and the faults of change.
func (a *API) changeResponse(
	ctx context.Context, caller uuid.UUID, id responseID,
	change func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error,
) (*ResponseResult, error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ResponseResult, error) {
		s, err := lockForChange(ctx, tx, caller, id.task)
		if err != nil {
			return nil, err
		}
		if !s.Visible {
			return nil, fault.New(fault.NotFound)
		}
		found, err := db.One[candidate](ctx, tx.SQL, named("select_response"), id.task, id.response)
		if err != nil {
			return nil, err
		}
		if err := s.requireAuthor(&found.responseRow); err != nil {
			return nil, err
		}
		if err := change(ctx, tx, s, &found.responseRow); err != nil {
			return nil, err
		}
		return &ResponseResult{Response: found.card()}, nil
	})
}

// requireAuthor returns forbidden for the task's customer, who sees all but withdrawn responses, and not_found for anyone else
// but the response's author.
func (s *snapshot) requireAuthor(r *responseRow) error {
	switch {
	case s.CallerID == r.By.ID:
		return nil
	case s.isCustomer() && r.State != string(response.StateWithdrawn):
		return fault.New(fault.Forbidden).Say("Only its author may change or withdraw a response.")
	default:
		return fault.New(fault.NotFound)
	}
}

// requireOpen returns state_conflict unless a response and its task are open.
func requireOpen(s *snapshot, r *responseRow) error {
	if s.State != string(task.StateOpen) || r.State != string(response.StateOpen) {
		return fault.New(fault.StateConflict).Say("The task is " + s.State + " and the response " + r.State + "; both must be open.")
	}
	return nil
}

// CloseTask ends an open task without an order and declines the responses to it (§4.9). Only its customer may call it; a repeat
// returns the closed task. Faults in this order: invalid_id, not_found (also for everyone else's tasks), state_conflict (a
// response was selected).
func (a *API) CloseTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*TaskResult, error) {
		s, err := lockForChange(ctx, tx, v.BotID, id)
		if err != nil {
			return nil, err
		}
		if !s.Visible {
			return nil, fault.New(fault.NotFound)
		}
		next := transitionOf(Close)
		if !s.isCustomer() || s.State != string(next.to) {
			if err := next.check(s); err != nil {
				return nil, err
			}
			s.State, s.UpdatedAt = string(next.to), s.Now
			if err := a.decline(ctx, tx, named("close_task"), id, s.Now); err != nil {
				return nil, err
			}
		}
		return &TaskResult{Task: s.card()}, nil
	})
}

// Remove removes a task from the board permanently: it no longer exists for anyone. An open task is closed, and its responses are
// declined; an order made from it goes on. Its texts stay for operator.RemovedRetention, so that operators can account for the
// removal. The caller has checked the permission. Fault: not_found if the task is unknown or removed already.
func (a *API) Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	t, err := tx.Ent.Task.Query().Where(task.ID(id), task.RemovedAtIsNil()).ForUpdate().Only(ctx)
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if t.State == task.StateOpen {
		if err := a.decline(ctx, tx, named("close_task"), id, now); err != nil {
			return err
		}
	}
	return tx.Ent.Task.UpdateOne(t).SetRemovedAt(now).SetUpdatedAt(now).Exec(ctx)
}
