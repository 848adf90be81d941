package attachments

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

const (
	// leaseTime is how long an inspection slot, or the reservation of an upload, stays taken after its process has died.
	leaseTime = 20 * time.Second
	// renewInterval is the time between two renewals of a lease. If they fail for maxUnrenewed, the work is stopped.
	renewInterval = 5 * time.Second
	maxUnrenewed  = 15 * time.Second
	// slotInterval is the time between two attempts to get a free slot.
	slotInterval = 100 * time.Millisecond
)

// lease is an inspection slot and the upload that it is used for.
type lease struct {
	ID       uuid.UUID `db:"id"`
	Lease    uuid.UUID `db:"lease_id"`
	Owner    uuid.UUID `db:"owner_id"`
	Purpose  Purpose   `db:"purpose"`
	Size     int64     `db:"size_bytes"`
	Reserved int64     `db:"reserved_bytes"`
	// Attempt counts from 1.
	Attempt int `db:"attempts"`
}

// claim waits until one of the inspection slots of the whole server is free and takes it for the next upload. It returns nil if
// no upload waits any more. It also waits for an unavailable database.
func (a *API) claim(ctx context.Context, id uuid.UUID) (*lease, error) {
	name := uuid.New() // the same at every attempt: an earlier one may have been committed without an answer
	for {
		var (
			held *lease
			full bool
		)
		err := db.RetryUnavailable(ctx, func(ctx context.Context) (err error) {
			held, full, err = a.tryClaim(ctx, id, name)
			return err
		})
		if err != nil {
			cleanUp(ctx, func(ctx context.Context) error { return a.returnLease(ctx, id, name, false) })
			return nil, err
		}
		if !full {
			return held, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slotInterval):
		}
	}
}

func (a *API) tryClaim(ctx context.Context, id, name uuid.UUID) (held *lease, full bool, err error) {
	// Waiting inspections check many times a second. They take the lock, which uploads need, only if a slot is free.
	if free, err := a.freeSlots(ctx, a.DB.SQL, name); err != nil || free == 0 {
		return nil, true, err
	}
	err = a.locked(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		held = nil
		free, err := a.freeSlots(ctx, tx.SQL, name)
		if full = free == 0; err != nil || full {
			return err
		}
		held, err = db.Find[lease](ctx, tx.SQL, named("take_lease"), id, name, leaseTime.Seconds())
		return err
	})
	return held, full, err
}

// freeSlots returns how many inspections could begin, not counting the named lease (uuid.Nil for none).
func (a *API) freeSlots(ctx context.Context, q db.Querier, except uuid.UUID) (int, error) {
	if a.Quotas.Inspections == 0 {
		return math.MaxInt32, nil
	}
	taken, err := db.Column[int](ctx, q, named("count_slots"), except)
	if err != nil {
		return 0, err
	}
	return max(a.Quotas.Inspections-taken[0], 0), nil
}

// returnLease frees the slot of an inspection that is to be repeated. An interrupted attempt does not count.
func (a *API) returnLease(ctx context.Context, id, name uuid.UUID, counts bool) error {
	return a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		return db.Exec(ctx, tx.SQL, named("return_lease"), id, name, counts)
	})
}

// The causes of a context whose lease no longer exists, or may have expired.
var (
	errTaken     = errors.New("attachments: the lease was taken away")
	errUnrenewed = errors.New("attachments: the lease could not be renewed")
)

// renew runs a statement that renews a lease or a reservation, with its present arguments and the seconds it lasts, until stop is
// called. The context ends when the lease is lost, or may be.
func (a *API) renew(
	ctx context.Context, interval time.Duration, s *db.Statement, args func() []any,
) (leased context.Context, stop func()) {
	leased, lose := context.WithCancelCause(ctx)
	cancel := func() { lose(nil) }
	expiry := time.AfterFunc(maxUnrenewed, func() { lose(errUnrenewed) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer expiry.Stop()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-tick.C:
			}
			renewed, err := db.Changed(leased, a.DB.SQL, s, append(args(), leaseTime.Seconds())...)
			if err != nil {
				continue
			}
			if renewed == 0 {
				lose(errTaken)
			}
			expiry.Reset(maxUnrenewed)
		}
	}()
	return leased, func() { cancel(); <-done }
}

// maxForeground is how long a request waits for its cleanup; after that the attempts continue in the background.
var maxForeground = slack.Of(time.Second)

// cleanUp retries do, even if ctx is cancelled. It returns when do has succeeded or failed permanently, or after maxForeground:
// then the attempts continue in the background for as long as a lease lasts. If they fail, the lease expires.
func cleanUp(ctx context.Context, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxForeground+leaseTime)
	done := make(chan struct{})
	go func() {
		defer cancel()
		defer close(done)
		_ = db.RetryUnavailable(ctx, do) // the lease expires
	}()
	select {
	case <-done:
	case <-time.After(maxForeground):
	}
}

// recoverAfter is how long a requested inspection may be idle, although a slot is free, before it is requested again.
const recoverAfter = 5 * time.Second

// Recover finishes work that a crash interrupted. It requests inspections again that no process works on, and returns their
// number. It deletes the bytes and reservations of uploads whose process has died. Called every few seconds, it does so within a
// minute of the crash (§11). Only a job calls it.
func (a *API) Recover(ctx context.Context) (n int, err error) {
	expired, failed := db.Column[uuid.UUID](ctx, a.DB.SQL, named("expired_reservations"))
	for _, id := range expired {
		failed = errors.Join(failed, a.release(ctx, id, true))
	}
	pending, err := db.Column[bool](ctx, a.DB.SQL, named("uploads_pending")) // the lock of the budgets is a write
	if err != nil || !pending[0] {
		return 0, errors.Join(failed, err)
	}
	err = a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		free, err := a.freeSlots(ctx, tx.SQL, uuid.Nil)
		if err != nil || free == 0 {
			return err
		}
		lost, err := db.Column[uuid.UUID](ctx, tx.SQL, named("requeue_uploads"), recoverAfter.Seconds(), free)
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
