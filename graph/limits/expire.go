package limits

import (
	"context"
	"database/sql"
)

// deleteStale: no span is longer than an hour.
const deleteStale = `DELETE FROM rate_windows WHERE taken_at < stoa_now() - interval '2 hours'`

// DeleteStale deletes counts that no longer weigh and returns how many there were. It is a job's.
func DeleteStale(ctx context.Context, on *sql.DB) (int64, error) {
	result, err := on.ExecContext(ctx, deleteStale)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
