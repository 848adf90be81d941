package tasks

import (
	"context"

	"stoa/ent/task"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// shut takes an open task off the market: with it go the responses to it.
const shut = `
WITH closed AS (UPDATE tasks SET state = 'closed', updated_at = $2 WHERE id = $1)
UPDATE responses SET state = 'declined' WHERE task_id = $1`

// CloseTask ends an open task without an order; the responses to it are declined (§4.9). Only its customer may call it; repeating it
// returns the closed task. Faults in this order: invalid_id, not_found (also for everyone else's tasks), state_conflict (a
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
		s, shown, err := locked(ctx, tx, v.BotID, id)
		if err != nil {
			return err
		}
		if !shown {
			return fault.New(fault.NotFound)
		}
		next := find(Close)
		if !s.isCustomer() || s.task.State != next.to {
			if err := next.refuse(s); err != nil {
				return err
			}
			s.task.State, s.task.UpdatedAt = task.StateClosed, s.now
			if _, err := tx.SQL.ExecContext(ctx, shut, id, s.now); err != nil {
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
