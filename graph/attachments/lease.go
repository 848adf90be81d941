package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

const (
	// leaseTime is how long an inspection slot, or the reservation of an upload, stays taken after its process has died.
	leaseTime = 20 * time.Second
	// renewal is how often a lease is renewed; without success for graceTime its work is stopped.
	renewal   = 5 * time.Second
	graceTime = 15 * time.Second
	// slotWait is how often a free slot is looked for.
	slotWait = 100 * time.Millisecond
)

// lease is an upload under inspection, with the slot that goes with it.
type lease struct {
	id, lease, owner uuid.UUID
	purpose          Purpose
	size, reserved   int64
	// attempt counts from 1.
	attempt int
}

// countLeases counts the inspection slots in use but for the lease $1: of uploads, and of public copies (publish.go).
const countLeases = `
SELECT (SELECT count(*) FROM attachments WHERE status = 'pending' AND lease_until > stoa_now() AND lease_id <> $1)
  + (SELECT count(*) FROM attachment_copies WHERE lease_until > stoa_now())`

const takeLease = `
UPDATE attachments SET lease_id = $2, lease_until = stoa_now() + make_interval(secs => $3),
  attempts = attempts + CASE WHEN lease_id = $2 THEN 0 ELSE 1 END
WHERE id = $1 AND status = 'pending' AND (lease_until IS NULL OR lease_until <= stoa_now() OR lease_id = $2)
RETURNING owner_id, purpose, size_bytes, reserved_bytes, attempts`

// claim waits until one of the inspection slots of the whole server is free and takes it; nil where the upload needs no
// inspection any more or has one. It rides out a database that is away.
func (a *API) claim(ctx context.Context, id uuid.UUID) (*lease, error) {
	name := uuid.New() // of the lease, the same at every attempt: an earlier one may have been committed without an answer
	for {
		var (
			held *lease
			full bool
		)
		err := persist(ctx, func(ctx context.Context) (err error) {
			held, full, err = a.tryClaim(ctx, id, name)
			return err
		})
		if err != nil {
			giveBack(ctx, func(ctx context.Context) error { return a.returnLease(ctx, id, name, false) })
			return nil, err
		}
		if !full {
			return held, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slotWait):
		}
	}
}

func (a *API) tryClaim(ctx context.Context, id, name uuid.UUID) (held *lease, full bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		held, full = nil, false
		if err := lock(ctx, tx); err != nil {
			return err
		}
		var running int
		if err := tx.SQL.QueryRowContext(ctx, countLeases, name).Scan(&running); err != nil {
			return err
		}
		if full = a.Quotas.Inspections > 0 && running >= a.Quotas.Inspections; full {
			return nil
		}
		taken := &lease{id: id, lease: name}
		err := tx.SQL.QueryRowContext(ctx, takeLease, id, taken.lease, leaseTime.Seconds()).
			Scan(&taken.owner, &taken.purpose, &taken.size, &taken.reserved, &taken.attempt)
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

const renewLease = `
UPDATE attachments SET lease_until = stoa_now() + make_interval(secs => $3) WHERE id = $1 AND lease_id = $2`

// renew runs a statement that renews a lease or a reservation, with its arguments and the seconds it lasts, until stop is
// called. The context ends when it is lost, or may be.
func (a *API) renew(ctx context.Context, statement string, args ...any) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancel(ctx)
	expiry := time.AfterFunc(graceTime, cancel)
	args = append(args, leaseTime.Seconds())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer expiry.Stop()
		tick := time.NewTicker(renewal)
		defer tick.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-tick.C:
			}
			result, err := a.DB.SQL.ExecContext(leased, statement, args...)
			if err != nil {
				continue
			}
			if renewed, err := result.RowsAffected(); err == nil && renewed == 0 {
				cancel()
			}
			expiry.Reset(graceTime)
		}
	}()
	return leased, func() { cancel(); <-done }
}

const returnLease = `
UPDATE attachments SET lease_id = NULL, lease_until = NULL, attempts = attempts - CASE WHEN $3::boolean THEN 0 ELSE 1 END
WHERE id = $1 AND lease_id = $2`

// returnLease frees the slot of an inspection that is to be repeated. An attempt that was merely interrupted does not count.
func (a *API) returnLease(ctx context.Context, id, name uuid.UUID, counts bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, returnLease, id, name, counts)
		return err
	})
}
