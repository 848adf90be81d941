package attachments

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// pauses are how long a copy is not asked for again; what fails, such as a full store, may be mended soon.
var pauses = map[outcome]time.Duration{noRoom: 10 * time.Minute, refused: 10 * time.Minute, failed: time.Minute}

var (
	reserveCopy       = statements.Named("reserve_copy")
	pauseCopy         = statements.Named("pause_copy")
	keepCopy          = statements.Named("keep_copy")
	deleteCopyRequest = statements.Named("delete_copy_request")
)

// publication is the purpose of an inspection that makes a public copy; no file is uploaded for it.
const publication Purpose = "publication"

// errLeaseLost says that another process may be making the copy.
var errLeaseLost = errors.New("attachments: the lease was lost")

// Publish makes the public copy of a file, unless it is made or not asked for: it waits for an inspection slot, holds it while the
// copy is made, and reserves room for the copy before it stores it. An error means that it should be called again. Only a job
// calls it.
func (a *API) Publish(ctx context.Context, id uuid.UUID, inspect Inspector) error {
	held, err := a.claim(ctx, copyLease, id)
	if err != nil || held == nil {
		return err
	}
	if held.Attempt > maxAttempts { // the processes of all attempts have died
		return a.pauseCopy(ctx, held, failed, 0)
	}
	leased, stop := a.renew(ctx, copyLease.renew, held.ID, held.Lease)
	size, why, err := a.makeCopy(leased, held, inspect)
	stop()
	interrupted := ctx.Err() != nil
	if err == nil && why == "" {
		return nil
	}
	cleanUp(ctx, func(ctx context.Context) error {
		switch {
		case err == nil:
			return a.pauseCopy(ctx, held, why, size)
		case held.Attempt >= maxAttempts && !interrupted:
			return a.pauseCopy(ctx, held, failed, 0)
		default: // an attempt that was merely interrupted does not count
			return a.returnLease(ctx, copyLease, held.ID, held.Lease, !interrupted)
		}
	})
	return err
}

// makeCopy makes and stores the copy; it returns the size, or the reason why there is no copy.
func (a *API) makeCopy(ctx context.Context, held *lease, inspect Inspector) (size int64, why outcome, err error) {
	original, err := a.openOriginal(ctx, held.ID)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, original.Close()) }()
	report, err := inspect(ctx, original, publication)
	if err != nil {
		return 0, "", errors.Join(err, a.charge(ctx, held.Owner, report))
	}
	defer func() { err = errors.Join(err, report.Remove()) }()
	if err := a.charge(ctx, held.Owner, report); err != nil {
		return 0, "", err
	}
	if !report.Accepted {
		return 0, refused, nil
	}
	size, media, err := describe(report.Published)
	if err != nil {
		return 0, "", err
	}
	if extensions[media] == "" {
		return 0, refused, nil
	}
	if room, err := a.reserveCopy(ctx, held, size); err != nil || !room {
		return size, noRoom, err
	}
	stored, err := a.put(ctx, publishedKey(held.ID), report.Published)
	if err != nil {
		return 0, "", err
	}
	return size, "", a.keepCopy(ctx, held, stored, media)
}

// describe returns the size and, by its first bytes, the media type of a file.
func describe(path string) (size int64, media string, err error) {
	made, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer made.Close()
	info, err := made.Stat()
	if err != nil {
		return 0, "", err
	}
	head, err := io.ReadAll(io.LimitReader(made, 512))
	return info.Size(), http.DetectContentType(head), err
}

// hasRoom reports whether an agent's budgets have room for that many bytes more. The caller holds the lock of the budgets, or
// asks again later.
func hasRoom(ctx context.Context, tx *db.Tx, q limits.Quotas, owner uuid.UUID, bytes int64) (bool, error) {
	u, err := db.One[usage](ctx, tx.SQL, readUsage, everyone, owner, uuid.Nil)
	return err == nil && u.check(q, demand{bytes: bytes}) == nil, err
}

// reserveCopy takes room for a copy from the budgets while the lease lasts. The copy of a file that everyone sees already is not
// refused for its owner's budget: nothing would be gained, and readers would lose it.
func (a *API) reserveCopy(ctx context.Context, held *lease, size int64) (room bool, err error) {
	quotas := a.Quotas
	if held.Seen {
		quotas.StorageBytesPerAgent = 0
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		if room, err = hasRoom(ctx, tx, quotas, held.Owner, size); err != nil || !room {
			return err
		}
		result, err := tx.SQL.ExecContext(ctx, reserveCopy.Text, held.ID, held.Lease, size)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errLeaseLost)
		}
		return nil
	})
	return room, err
}

// keepCopy writes that the copy is there: the reserved bytes become bytes of the file.
func (a *API) keepCopy(ctx context.Context, held *lease, stored object, media string) error {
	return retryUnavailable(ctx, func(ctx context.Context) error {
		return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := lock(ctx, tx); err != nil {
				return err
			}
			leased, err := db.Column[uuid.UUID](ctx, tx.SQL, deleteCopyRequest, held.ID, held.Lease)
			if err != nil {
				return err
			}
			if len(leased) == 0 {
				return errLeaseLost
			}
			_, err = tx.SQL.ExecContext(ctx, keepCopy.Text, held.ID, stored.size, stored.sha256, media)
			return err
		})
	})
}

// pauseCopy gives up for a while; size is that of a copy that had no room.
func (a *API) pauseCopy(ctx context.Context, held *lease, why outcome, size int64) error {
	_, err := a.DB.SQL.ExecContext(ctx, pauseCopy.Text, held.ID, held.Lease, string(why), size, pauses[why].Seconds())
	return err
}
