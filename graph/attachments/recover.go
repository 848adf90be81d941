package attachments

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"stoa/graph/db"
)

// recoverAfter is how long an inspection may have been asked for, without one that runs, before it is asked for again.
const recoverAfter = 20 * time.Second

const lostUploads = `
UPDATE attachments SET queued_at = stoa_now()
WHERE status = 'pending' AND queued_at <= stoa_now() - make_interval(secs => $1) AND (lease_until IS NULL OR lease_until <= stoa_now())
RETURNING id`

// Recover asks again for the inspections whose process has died, and returns how many there were. Called every ten seconds,
// it brings every upload that a crash cut off to its verdict within a minute. It is a job's.
func (a *API) Recover(ctx context.Context) (n int, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		lost, err := ids(tx.SQL.QueryContext(ctx, lostUploads, recoverAfter.Seconds()))
		if err != nil {
			return err
		}
		n = len(lost)
		for _, id := range lost {
			if err := a.Enqueue(ctx, tx, InspectJob{AttachmentID: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// ids reads a column of ids.
func ids(rows *sql.Rows, err error) ([]uuid.UUID, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}
