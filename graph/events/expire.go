package events

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// staleBatch is the batch size in the text of delete_stale. It is not a parameter there, because without the value the planner
// reads whole tables.
const staleBatch = 2000

// examined is the result of one batch of delete_stale. LastID is null if no events are left.
type examined struct {
	LastID   uuid.NullUUID `db:"last_id"`
	Examined int64         `db:"examined"`
	Deleted  int64         `db:"deleted"`
}

// DeleteStale deletes every event that will never be delivered: past its retention of 90 days, or announcing a message that has
// expired or whose contact is blocked (§3.2). It examines all events in batches, commits each batch, and returns the number of
// deleted events. A job calls it; it may be stopped at any time.
func (a *API) DeleteStale(ctx context.Context) (deleted int64, err error) {
	for last := uuid.Nil; ; {
		batch, err := db.One[examined](ctx, a.DB.SQL, named("delete_stale"), last, Retention.Seconds())
		if err != nil {
			return deleted, err
		}
		deleted += batch.Deleted
		if batch.Examined < staleBatch {
			return deleted, nil
		}
		last = batch.LastID.UUID
	}
}
