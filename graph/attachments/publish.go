package attachments

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

const (
	// copyLease is how long the making of one copy may take; its slot is free afterwards.
	copyLease = time.Minute
	// copyTime ends the making before its lease does.
	copyTime = 45 * time.Second
	// copyPause is how long a copy that failed is not asked for again.
	copyPause = 10 * time.Minute
)

// publication is the purpose of an inspection that makes a public copy; no file is uploaded for it.
const publication Purpose = "publication"

// copyHeld is a public copy that this process makes, with the inspection slot that goes with it.
type copyHeld struct {
	id, lease, owner uuid.UUID
	// attempt counts from 1.
	attempt int
}

// Publish makes the public copy of a file, unless it is made or nobody asks for it: it waits for an inspection slot, holds it
// while the copy is made, and counts the copy towards the budgets, which must have room for it. An error means that it should be
// called again. Only a job calls it.
func (a *API) Publish(ctx context.Context, id uuid.UUID, inspect Inspector) error {
	held, err := a.claimCopy(ctx, id)
	if err != nil || held == nil {
		return err
	}
	if held.attempt > maxAttempts { // it has taken its processes with it
		return a.pauseCopy(ctx, held)
	}
	limited, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	made, err := a.makeCopy(limited, held, inspect)
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer stop()
	switch {
	case err == nil && made:
		return nil
	case err == nil, held.attempt >= maxAttempts && ctx.Err() == nil:
		return errors.Join(err, a.pauseCopy(late, held))
	default:
		return errors.Join(err, a.returnCopy(late, held, ctx.Err() == nil))
	}
}

const takeCopy = `
UPDATE attachment_copies c SET lease_id = $2, lease_until = stoa_now() + make_interval(secs => $3), attempts = c.attempts + 1
FROM attachments a WHERE c.attachment_id = $1 AND a.id = c.attachment_id AND c.failed_until IS NULL
  AND (c.lease_until IS NULL OR c.lease_until <= stoa_now())
RETURNING a.owner_id, c.attempts`

// claimCopy waits until an inspection slot of the whole server is free and takes it; nil where the copy needs no making any
// more or is being made.
func (a *API) claimCopy(ctx context.Context, id uuid.UUID) (*copyHeld, error) {
	for {
		held, full, err := a.tryClaimCopy(ctx, id)
		if err != nil || !full {
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slotWait):
		}
	}
}

func (a *API) tryClaimCopy(ctx context.Context, id uuid.UUID) (held *copyHeld, full bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		held, full = nil, false
		if err := lock(ctx, tx); err != nil {
			return err
		}
		var running int
		if err := tx.SQL.QueryRowContext(ctx, countLeases, uuid.Nil).Scan(&running); err != nil {
			return err
		}
		if full = a.Quotas.Inspections > 0 && running >= a.Quotas.Inspections; full {
			return nil
		}
		taken := &copyHeld{id: id, lease: uuid.New()}
		err := tx.SQL.QueryRowContext(ctx, takeCopy, id, taken.lease, copyLease.Seconds()).Scan(&taken.owner, &taken.attempt)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		held = taken
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return held, full, nil
}

// makeCopy makes and stores the copy; not made where the file's bytes do not lend themselves to it or the budgets have no room.
func (a *API) makeCopy(ctx context.Context, held *copyHeld, inspect Inspector) (made bool, err error) {
	work, err := newScratch()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, work.remove()) }()
	path := filepath.Join(work.folder, original)
	if err := a.get(ctx, originalKey(held.id), path); err != nil {
		return false, err
	}
	report, err := inspect(ctx, path, publication)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, report.Remove()) }()
	if !report.Accepted {
		return false, nil
	}
	info, err := os.Stat(report.Published)
	if err != nil {
		return false, err
	}
	if u, err := readUsageOf(ctx, a.DB.SQL, held.owner, uuid.Nil); err != nil || u.refuse(a.Quotas, demand{bytes: info.Size()}) != nil {
		return false, err
	}
	stored, err := a.put(ctx, publishedKey(held.id), report.Published)
	if err != nil {
		return false, err
	}
	return a.keepCopy(ctx, held, stored)
}

const keepPublished = `
UPDATE attachments SET published_bytes = $2, published_sha256 = $3, reserved_bytes = reserved_bytes + $2
WHERE id = $1 AND status = 'ready' AND deleted_at IS NULL AND published_bytes IS NULL`

const (
	lockCopy   = `SELECT FROM attachment_copies WHERE attachment_id = $1 AND lease_id = $2 FOR UPDATE`
	forgetCopy = `DELETE FROM attachment_copies WHERE attachment_id = $1 AND lease_id = $2`
)

// keepCopy writes that the copy is there and counts it. Not made where there is no room for it; its bytes are gone then.
func (a *API) keepCopy(ctx context.Context, held *copyHeld, stored copied) (made bool, err error) {
	var fits bool
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		fits = true
		if err := lock(ctx, tx); err != nil {
			return err
		}
		if err := tx.SQL.QueryRowContext(ctx, lockCopy, held.id, held.lease).Scan(); err != nil {
			return err
		}
		u, err := readUsageOf(ctx, tx.SQL, held.owner, uuid.Nil)
		if err != nil {
			return err
		}
		if fits = u.refuse(a.Quotas, demand{bytes: stored.size}) == nil; !fits {
			return nil
		}
		if _, err = tx.SQL.ExecContext(ctx, keepPublished, held.id, stored.size, stored.sum); err != nil {
			return err
		}
		_, err = tx.SQL.ExecContext(ctx, forgetCopy, held.id, held.lease)
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return true, nil // the lease was lost, and the copy is another process's to make
	case err == nil && !fits:
		return false, a.Store.Delete(ctx, publishedKey(held.id))
	}
	return err == nil, err
}

const pauseCopy = `
UPDATE attachment_copies SET lease_id = NULL, lease_until = NULL, failed_until = stoa_now() + make_interval(secs => $3)
WHERE attachment_id = $1 AND lease_id = $2`

// pauseCopy gives up for a while.
func (a *API) pauseCopy(ctx context.Context, held *copyHeld) error {
	_, err := a.DB.SQL.ExecContext(ctx, pauseCopy, held.id, held.lease, copyPause.Seconds())
	return err
}

const returnCopyLease = `
UPDATE attachment_copies SET lease_id = NULL, lease_until = NULL, attempts = attempts - CASE WHEN $3::boolean THEN 0 ELSE 1 END
WHERE attachment_id = $1 AND lease_id = $2`

// returnCopy frees the slot of a copy that is to be tried again. An attempt that was merely interrupted does not count.
func (a *API) returnCopy(ctx context.Context, held *copyHeld, counts bool) error {
	_, err := a.DB.SQL.ExecContext(ctx, returnCopyLease, held.id, held.lease, counts)
	return err
}
