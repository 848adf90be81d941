package attachments

import (
	"context"
	"time"

	"github.com/lib/pq"

	"stoa/graph/platform/db"
)

// How long bytes are kept without need (§8).
const (
	unattachedTime = 24 * time.Hour
	unboundTime    = 30 * 24 * time.Hour
)

// sweepBatch is how many records one statement looks at.
const sweepBatch = 100

// giveUp ends the availability of files whose time has come: never bound for 24 hours, unbound for 30 days, or of an order that
// came to its end 30 days ago. Open orders, disputes among them, keep theirs.
const giveUp = `
UPDATE attachments SET deleted_at = stoa_now() WHERE id IN (
  SELECT a.id FROM attachments a WHERE a.status = 'ready' AND a.deleted_at IS NULL AND a.reserved_bytes > 0 AND CASE
    WHEN a.bound_id IS NULL AND a.unbound_at IS NULL THEN a.created_at <= stoa_now() - make_interval(secs => $1)
    WHEN a.bound_id IS NULL THEN a.unbound_at <= stoa_now() - make_interval(secs => $2)
    WHEN a.bound_kind IN ('order_input', 'order_result') THEN EXISTS (SELECT FROM orders o WHERE o.id = a.bound_id
      AND o.state IN ('closed', 'cancelled', 'rejected') AND o.updated_at <= stoa_now() - make_interval(secs => $2))
    ELSE false END
  ORDER BY a.id LIMIT $3 FOR UPDATE SKIP LOCKED)`

// givenUp are files whose bytes still count although nobody may have them any more.
const givenUp = `SELECT id FROM attachments WHERE deleted_at IS NOT NULL AND reserved_bytes > 0 ORDER BY id LIMIT $1`

const freeBudget = `UPDATE attachments SET reserved_bytes = 0 WHERE id = ANY ($1::uuid[]) AND deleted_at IS NOT NULL`

// Sweep deletes the bytes that nobody needs any more and frees their budgets; the records stay. It returns how many files that
// were. Bytes go before the budget does, so a sweep that is stopped or fails half-way goes on where the next one begins. It is
// a job's.
func (a *API) Sweep(ctx context.Context) (int64, error) {
	for n := int64(sweepBatch); n == sweepBatch; {
		result, err := a.DB.SQL.ExecContext(ctx, giveUp, unattachedTime.Seconds(), unboundTime.Seconds(), sweepBatch)
		if err != nil {
			return 0, err
		}
		if n, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	var done int64
	for n := int64(sweepBatch); n == sweepBatch; done += n {
		var err error
		if n, err = a.free(ctx); err != nil {
			return done, err
		}
	}
	return done, nil
}

// free deletes the bytes of a batch of files and frees their budgets.
func (a *API) free(ctx context.Context) (int64, error) {
	gone, err := ids(a.DB.SQL.QueryContext(ctx, givenUp, sweepBatch))
	if err != nil {
		return 0, err
	}
	for _, id := range gone {
		if err := a.remove(ctx, id); err != nil {
			return 0, err
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, freeBudget, pq.Array(texts(gone)))
		return err
	})
	if err != nil {
		return 0, err
	}
	return int64(len(gone)), nil
}
