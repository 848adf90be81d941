package attachments

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

const (
	// copyTime is how long the making of one copy may take; it ends before the lease does.
	copyTime = 45 * time.Second
	// copyPause is how long a copy that failed is not asked for again.
	copyPause = 10 * time.Minute
)

var (
	pauseCopy         = statements.Named("pause_copy")
	lockCopy          = statements.Named("lock_copy")
	keepCopy          = statements.Named("keep_copy")
	deleteCopyRequest = statements.Named("delete_copy_request")
)

// publication is the purpose of an inspection that makes a public copy; no file is uploaded for it.
const publication Purpose = "publication"

// Publish makes the public copy of a file, unless it is made or nobody asks for it: it waits for an inspection slot, holds it
// while the copy is made, and counts the copy towards the budgets, which must have room for it. An error means that it should be
// called again. Only a job calls it.
func (a *API) Publish(ctx context.Context, id uuid.UUID, inspect Inspector) error {
	held, err := a.claim(ctx, copyLease, id)
	if err != nil || held == nil {
		return err
	}
	if held.Attempt > maxAttempts { // the processes of all attempts have died
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
	case err == nil, held.Attempt >= maxAttempts && ctx.Err() == nil:
		return errors.Join(err, a.pauseCopy(late, held))
	default: // an attempt that was merely interrupted does not count
		return errors.Join(err, a.returnLease(late, copyLease, held.ID, held.Lease, ctx.Err() == nil))
	}
}

// makeCopy makes and stores the copy; not made where the file cannot be published or the budgets have no room.
func (a *API) makeCopy(ctx context.Context, held *lease, inspect Inspector) (made bool, err error) {
	original, err := a.openOriginal(ctx, held.ID)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, original.Close()) }()
	report, err := inspect(ctx, original, publication)
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
	fits, err := a.fits(ctx, a.DB.SQL, held.Owner, info.Size())
	if err != nil || !fits {
		return false, err
	}
	stored, err := a.put(ctx, publishedKey(held.ID), report.Published)
	if err != nil {
		return false, err
	}
	return a.keepCopy(ctx, held, stored)
}

// fits reports whether an agent's budgets have room for so many bytes more.
func (a *API) fits(ctx context.Context, q db.Querier, owner uuid.UUID, bytes int64) (bool, error) {
	u, err := db.One[usage](ctx, q, readUsage, everyone, owner, uuid.Nil)
	return err == nil && u.check(a.Quotas, demand{bytes: bytes}) == nil, err
}

// keepCopy writes that the copy is there and counts it. Not made where there is no room for it; its bytes are gone then.
func (a *API) keepCopy(ctx context.Context, held *lease, stored object) (made bool, err error) {
	var fits bool
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		fits = true
		if err := lock(ctx, tx); err != nil {
			return err
		}
		leased, err := db.Column[uuid.UUID](ctx, tx.SQL, lockCopy, held.ID, held.Lease)
		if err != nil || len(leased) == 0 {
			return err // another process makes the copy
		}
		if fits, err = a.fits(ctx, tx.SQL, held.Owner, stored.size); err != nil || !fits {
			return err
		}
		if _, err = tx.SQL.ExecContext(ctx, keepCopy.Text, held.ID, stored.size, stored.sha256); err != nil {
			return err
		}
		_, err = tx.SQL.ExecContext(ctx, deleteCopyRequest.Text, held.ID, held.Lease)
		return err
	})
	if err == nil && !fits {
		return false, a.Store.Delete(ctx, publishedKey(held.ID))
	}
	return err == nil, err
}

// pauseCopy gives up for a while.
func (a *API) pauseCopy(ctx context.Context, held *lease) error {
	_, err := a.DB.SQL.ExecContext(ctx, pauseCopy.Text, held.ID, held.Lease, copyPause.Seconds())
	return err
}
