package attachments

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// recoverAfter is how long an inspection may have been asked for and not run, although a slot is free, before it is asked for
// again.
const recoverAfter = 5 * time.Second

const lostUploads = `
UPDATE attachments SET queued_at = stoa_now() WHERE id IN (
  SELECT id FROM attachments WHERE status = 'pending' AND queued_at <= stoa_now() - make_interval(secs => $1)
    AND (lease_until IS NULL OR lease_until <= stoa_now())
  ORDER BY queued_at LIMIT $2)
RETURNING id`

// Recover brings what a crash cut off to its end: it asks again for inspections that nobody works at, and returns how many there
// were; it deletes the bytes and reservations of uploads whose process has died, and the folders of their inspections. Called
// every few seconds, it does so within a minute of the crash (contract §11). It is called by a job and checks no caller.
func (a *API) Recover(ctx context.Context) (n int, err error) {
	sweepScratch()
	failed := a.releaseExpired(ctx)
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		if err := lock(ctx, tx); err != nil {
			return err
		}
		free, err := a.freeSlots(ctx, tx)
		if err != nil || free == 0 {
			return err
		}
		lost, err := ids(tx.SQL.QueryContext(ctx, lostUploads, recoverAfter.Seconds(), free))
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
	return n, errors.Join(failed, err)
}

// freeSlots is how many inspections could begin.
func (a *API) freeSlots(ctx context.Context, tx *db.Tx) (int, error) {
	if a.Quotas.Inspections == 0 {
		return math.MaxInt32, nil
	}
	var running int
	err := tx.SQL.QueryRowContext(ctx, countLeases, uuid.Nil).Scan(&running)
	return max(a.Quotas.Inspections-running, 0), err
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
