package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/db"
)

// Remove takes a task off the board for good, and with it the responses to it: neither exists for anyone any more. An order that
// came of it goes on. The caller has decided who may. not_found where there is no such task, or none any more.
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
