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

// Lock keeps an agent's row until the transaction ends. A later statement reads what is decided under the lock, such as how many records
// of a kind the agent has.
func Lock(ctx context.Context, tx *db.Tx, agent uuid.UUID) error {
	_, err := tx.SQL.ExecContext(ctx, named("lock_agent").Text, agent)
	return err
}

// LeaveTrash makes an agent active that is in the trash; any other stays unchanged. Only restoring and operators' procedures call
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

// Trash moves inactive agents to the trash and returns how many (§3.4): none before an operator has activated the lifecycle. It
// walks all agents in batches that each commit, so it may be stopped half-way, run again and run in several processes at once.
// Passport, balance and ledger stay. Only jobs and operators' procedures call it.
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
