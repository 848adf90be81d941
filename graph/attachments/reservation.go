package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

const (
	// reserveStep is how many bytes an upload of unknown size reserves at a time.
	reserveStep = 1 << 20
	// placeWait is how long an upload waits for one of the places that are bounded (§8), and placeGlance how often it looks.
	placeWait   = time.Second
	placeGlance = 100 * time.Millisecond
)

const insertReservation = `
INSERT INTO upload_reservations (id, agent_id, bytes, files, expires_at)
VALUES ($1, $2, $3, $4, stoa_now() + make_interval(secs => $5))`

// reservation is what an upload that is being received takes from the budgets. It is one row of upload_reservations, which counts
// against the budgets like a file; the record of the upload replaces it. It is not safe for concurrent use.
type reservation struct {
	id, owner uuid.UUID
	// bytes may be stored.
	bytes int64
	// refused is the budget's fault: from then on nothing of the upload may be stored. The form is read nevertheless, because its
	// own faults and the answer to a repeat come before the budget (contract §1).
	refused error
}

// reserve takes a place among the uploads under way and, where the budgets allow it, room for a file of this many bytes.
// upload_busy when no place becomes free within a second.
func (a *API) reserve(ctx context.Context, owner uuid.UUID, bytes int64) (*reservation, error) {
	for began := time.Now(); ; {
		made, err := a.tryReserve(ctx, owner, bytes)
		if !errors.Is(err, fault.New(fault.UploadBusy)) || time.Since(began) > placeWait {
			return made, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(placeGlance):
		}
	}
}

func (a *API) tryReserve(ctx context.Context, owner uuid.UUID, bytes int64) (*reservation, error) {
	place := demand{uploads: 1}
	u, err := readUsageOf(ctx, a.DB.SQL, owner, uuid.Nil) // without the lock, since many may be waiting
	if err != nil {
		return nil, err
	}
	if err := u.refuse(a.Quotas, place); err != nil {
		return nil, err
	}
	var made *reservation
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		u, err := readUsageOf(ctx, tx.SQL, owner, uuid.Nil)
		if err != nil {
			return err
		}
		if err := u.refuse(a.Quotas, place); err != nil {
			return err
		}
		made = &reservation{id: uuid.Must(uuid.NewV7()), owner: owner, bytes: bytes}
		files := 1
		if made.refused = u.refuse(a.Quotas, demand{records: 1, files: 1, bytes: bytes}); made.refused != nil {
			made.bytes, files = 0, 0
		}
		_, err = tx.SQL.ExecContext(ctx, insertReservation, made.id, owner, made.bytes, files, leaseTime.Seconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

const extendReservation = `UPDATE upload_reservations SET bytes = bytes + $2 WHERE id = $1 AND files = 1`

// extend reserves at least need more bytes, and a whole step where the budgets have it. It sets refused where they do not.
func (a *API) extend(ctx context.Context, r *reservation, need int64) error {
	var (
		more    int64
		refused error
	)
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		u, err := readUsageOf(ctx, tx.SQL, r.owner, uuid.Nil)
		if err != nil {
			return err
		}
		for _, more = range []int64{max(need, min(reserveStep, MaxFile-r.bytes)), need} {
			if refused = u.refuse(a.Quotas, demand{bytes: more}); refused == nil {
				return change(ctx, tx, extendReservation, r.id, more)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.refused = refused; refused == nil {
		r.bytes += more
	}
	return nil
}

// change runs a statement on one reservation, which must be there.
func change(ctx context.Context, tx *db.Tx, statement string, args ...any) error {
	result, err := tx.SQL.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errReservationLost())
	}
	return nil
}

// errReservationLost is the fault of an upload that could not renew its reservation in time: its bytes are deleted.
func errReservationLost() error {
	return fault.New(fault.ServiceUnavailable).Say("The upload was interrupted; send it again.")
}

const emptyReservation = `UPDATE upload_reservations SET bytes = 0, files = 0 WHERE id = $1`

// empty gives back all that a reservation holds but its place among the uploads under way. Its bytes are deleted already.
func (a *API) empty(ctx context.Context, id uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, emptyReservation, id)
	return err
}

const endReservation = `DELETE FROM upload_reservations WHERE id = $1`

// settle ends a reservation in the transaction that makes the record of its upload.
func settle(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return change(ctx, tx, endReservation, id)
}

const renewReservation = `UPDATE upload_reservations SET expires_at = stoa_now() + make_interval(secs => $2) WHERE id = $1`

const lockReservation = `SELECT expires_at <= stoa_now() FROM upload_reservations WHERE id = $1 FOR UPDATE`

// release deletes the bytes of an upload that made no record, and then its reservation. It does nothing where there is no
// reservation, because the upload has a record then, or, when only expired is set, where the reservation is still renewed.
func (a *API) release(ctx context.Context, id uuid.UUID, onlyExpired bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		var expired bool
		err := tx.SQL.QueryRowContext(ctx, lockReservation, id).Scan(&expired)
		if errors.Is(err, sql.ErrNoRows) || (err == nil && onlyExpired && !expired) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.removeAll(ctx, id); err != nil {
			return err
		}
		_, err = tx.SQL.ExecContext(ctx, endReservation, id)
		return err
	})
}

const expiredReservations = `SELECT id FROM upload_reservations WHERE expires_at <= stoa_now()`

// releaseExpired releases what uploads reserved whose process has died.
func (a *API) releaseExpired(ctx context.Context) error {
	expired, err := ids(a.DB.SQL.QueryContext(ctx, expiredReservations))
	for _, id := range expired {
		err = errors.Join(err, a.release(ctx, id, true))
	}
	return err
}
