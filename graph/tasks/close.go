package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// CloseTask ends an open task without an order; the responses to it are declined (§4.9). Only its customer may call it; repeating
// it returns the closed task. Faults in this order: invalid_id, not_found (also for everyone else's tasks), state_conflict (a
// response was selected).
func (a *API) CloseTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	var card *Card
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		s, err := lockForChange(ctx, tx, v.BotID, id)
		if err != nil {
			return err
		}
		if !s.Visible {
			return fault.New(fault.NotFound)
		}
		next := transitionOf(Close)
		if !s.isCustomer() || s.State != next.to {
			if err := next.check(s); err != nil {
				return err
			}
			s.State, s.UpdatedAt = task.StateClosed, s.Now
			if _, err := tx.SQL.ExecContext(ctx, closeTask.Text, id, s.Now); err != nil {
				return err
			}
		}
		card = newCard(s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: card}, nil
}

// Remove takes a task and its responses off the board permanently: no agent sees them any more. An order made from it continues.
// Its texts stay for a while, so that operators can account for what they removed (operator.RemovedRetention). The caller has
// checked who may do this. not_found if the task does not exist or was removed before.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	t, err := tx.Ent.Task.Query().Where(task.ID(id), task.RemovedAtIsNil()).ForUpdate().Only(ctx)
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	return tx.Ent.Task.UpdateOne(t).SetRemovedAt(now).SetUpdatedAt(now).Exec(ctx)
}
