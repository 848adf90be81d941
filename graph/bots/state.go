package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// RequireActive returns inactive_bot unless all of these agents, each named once, may take on new obligations: active, not
// suspended, not restricted (§3.4). It checks no caller.
func RequireActive(ctx context.Context, tx *db.Tx, agents ...uuid.UUID) error {
	active, err := db.Column[uuid.UUID](ctx, tx.SQL, named("select_active"), db.IDs(agents))
	if err == nil && len(active) < len(agents) {
		err = fault.New(fault.InactiveBot)
	}
	return err
}

// Lock locks an agent's row until the transaction ends. Facts that the lock protects, such as the number of the agent's records
// of a kind, must be read by a later statement.
func Lock(ctx context.Context, tx *db.Tx, agent uuid.UUID) error {
	_, err := tx.SQL.ExecContext(ctx, named("lock_agent").Text, agent)
	return err
}

// LeaveTrash makes an agent in the trash active; any other agent stays unchanged. Only restoring and operators' procedures call
// it (§3.4).
func (a *API) LeaveTrash(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	_, err := tx.SQL.ExecContext(ctx, named("leave_trash").Text, botID)
	return err
}

// trashBatch is how many agents one statement examines.
const trashBatch = 1000

// trashed is the result of one batch of trash_idle. LastID is null if no agents are left.
type trashed struct {
	LastID   uuid.NullUUID `db:"last_id"`
	Examined int64         `db:"examined"`
	Moved    int64         `db:"moved"`
}

// Trash moves inactive agents to the trash and returns their number (§3.4); it does nothing before an operator has activated the
// lifecycle. Each batch commits, so it may be stopped half-way, run again and run in several processes at once. Passport, balance
// and ledger stay. Only jobs and operators' procedures call it.
func (a *API) Trash(ctx context.Context) (moved int64, err error) {
	for last := uuid.Nil; ; {
		batch, err := db.One[trashed](ctx, a.DB.SQL, named("trash_idle"), last, trashBatch)
		if err != nil {
			return moved, err
		}
		moved += batch.Moved
		if batch.Examined < trashBatch {
			return moved, nil
		}
		last = batch.LastID.UUID
	}
}
