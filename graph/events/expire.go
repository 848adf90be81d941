package events

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// expiryBatch is the batch that is written into delete_expired and delete_suppressed.
const expiryBatch = 2000

// suppressed is the result of one batch of delete_suppressed. LastID is null if no events are left.
type suppressed struct {
	LastID   uuid.NullUUID `db:"last_id"`
	Examined int64         `db:"examined"`
	Deleted  int64         `db:"deleted"`
}

// DeleteStale deletes every event that will never be delivered: past its retention of 90 days, or announcing a message that has
// expired or whose contact is blocked (§3.2). It works in batches that each commit and returns how many events it deleted. A job
// calls it; it may be stopped half-way.
func (a *API) DeleteStale(ctx context.Context) (int64, error) {
	expired, err := a.deleteExpired(ctx)
	if err != nil {
		return expired, err
	}
	suppressed, err := a.deleteSuppressed(ctx)
	return expired + suppressed, err
}

func (a *API) deleteExpired(ctx context.Context) (deleted int64, err error) {
	for {
		result, err := a.DB.SQL.ExecContext(ctx, deleteExpired.Text, Retention.Seconds())
		if err != nil {
			return deleted, err
		}
		n, err := result.RowsAffected()
		deleted += n
		if err != nil || n < expiryBatch {
			return deleted, err
		}
	}
}

func (a *API) deleteSuppressed(ctx context.Context) (deleted int64, err error) {
	for last := uuid.Nil; ; {
		batch, err := db.One[suppressed](ctx, a.DB.SQL, deleteSuppressed, last)
		if err != nil {
			return deleted, err
		}
		deleted += batch.Deleted
		if batch.Examined < expiryBatch {
			return deleted, nil
		}
		last = batch.LastID.UUID
	}
}
