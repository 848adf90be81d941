package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/db"
)

const (
	// leaseTime is how long an inspection slot stays taken after its process has died.
	leaseTime = 20 * time.Second
	// renewal is how often a lease is renewed; without success for graceTime its inspection is stopped.
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

// countLeases counts the inspection slots in use: of uploads, and of public copies (publish.go).
const countLeases = `
SELECT (SELECT count(*) FROM attachments WHERE status = 'pending' AND lease_until > stoa_now())
  + (SELECT count(*) FROM attachment_copies WHERE lease_until > stoa_now())`

const takeLease = `
UPDATE attachments SET lease_id = $2, lease_until = stoa_now() + make_interval(secs => $3), attempts = attempts + 1
WHERE id = $1 AND status = 'pending' AND (lease_until IS NULL OR lease_until <= stoa_now())
RETURNING owner_id, purpose, size_bytes, reserved_bytes, attempts`

// claim waits until one of the inspection slots of the whole server is free and takes it; nil where the upload needs no
// inspection any more or has one.
func (a *API) claim(ctx context.Context, id uuid.UUID) (*lease, error) {
	for {
		held, full, err := a.tryClaim(ctx, id)
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

func (a *API) tryClaim(ctx context.Context, id uuid.UUID) (held *lease, full bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		held, full = nil, false
		if err := lock(ctx, tx); err != nil {
			return err
		}
		var running int
		if err := tx.SQL.QueryRowContext(ctx, countLeases).Scan(&running); err != nil {
			return err
		}
		if full = a.Quotas.Inspections > 0 && running >= a.Quotas.Inspections; full {
			return nil
		}
		taken := &lease{id: id, lease: uuid.New()}
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

// keep renews a lease until release is called. The context ends when the lease is lost, or may be.
func (a *API) keep(ctx context.Context, held *lease) (leased context.Context, release func()) {
	leased, cancel := context.WithCancel(ctx)
	expiry := time.AfterFunc(graceTime, cancel)
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
			result, err := a.DB.SQL.ExecContext(leased, renewLease, held.id, held.lease, leaseTime.Seconds())
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

// giveBack frees the slot of an inspection that is to be repeated. An attempt that was merely interrupted does not count.
func (a *API) giveBack(ctx context.Context, held *lease, counts bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, returnLease, held.id, held.lease, counts)
		return err
	})
}
