package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

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
			if err := a.close(ctx, tx, id, s.Now); err != nil {
				return nil, err
			}
		}
		return &TaskResult{Task: s.card()}, nil
	})
}

// close closes an open task that is locked, and declines the responses to it.
func (a *API) close(ctx context.Context, tx *db.Tx, id uuid.UUID, now time.Time) error {
	declined, err := db.All[settled](ctx, tx.SQL, named("close_task"), id, now)
	if err != nil {
		return err
	}
	return a.announceDeclined(ctx, tx, declined)
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
		if err := a.close(ctx, tx, id, now); err != nil {
			return err
		}
	}
	return tx.Ent.Task.UpdateOne(t).SetRemovedAt(now).SetUpdatedAt(now).Exec(ctx)
}
