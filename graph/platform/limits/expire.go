package limits

import (
	"context"

	"stoa/graph/platform/db"
)

// staleBatch is how many windows one statement deletes.
const staleBatch = 5000

// deleteStale passes over windows that a request is counting in at this moment. No span is longer than an hour.
const deleteStale = `
DELETE FROM rate_windows WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM rate_windows WHERE taken_at < stoa_now() - interval '2 hours' LIMIT $1 FOR UPDATE SKIP LOCKED))`

// DeleteStale deletes counts that no longer weigh, in batches, and returns how many there were. Only a job calls it.
func DeleteStale(ctx context.Context, on *db.DB) (int64, error) {
	return on.ExecBatches(ctx, deleteStale, staleBatch)
}
