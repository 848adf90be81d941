package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
)

const (
	// maxQueue is how many uploads may wait for an inspection beside those being inspected, and maxQueuePerAgent how many of one
	// agent (§8).
	maxQueue         = bounds.WaitingInspections
	maxQueuePerAgent = bounds.WaitingInspectionsPerAgent
	// reserveStep is how many bytes an upload of unknown size reserves at a time.
	reserveStep   = 1 << 20
	placeInterval = 100 * time.Millisecond
)

// placeWait is how long an upload waits for one of the places that are bounded (§8), looking every placeInterval.
var placeWait = slack.Of(time.Second)

var (
	lockBudgets         = statements.Named("lock_budgets")
	readUsage           = statements.Named("read_usage")
	insertReservation   = statements.Named("insert_reservation")
	extendReservation   = statements.Named("extend_reservation")
	emptyReservation    = statements.Named("empty_reservation")
	renewReservation    = statements.Named("renew_reservation")
	deleteReservation   = statements.Named("delete_reservation")
	lockReservation     = statements.Named("lock_reservation")
	expiredReservations = statements.Named("expired_reservations")
)

// everyone is whose usage counts the files of all agents.
var everyone = uuid.Nil

// lock takes the lock under which budgets and inspection slots are given out.
func lock(ctx context.Context, tx *db.Tx) error {
	_, err := tx.SQL.ExecContext(ctx, lockBudgets.Text, everyone)
	return err
}

// usage counts the bytes of all agents' files and of one agent's, running uploads included; the running uploads; the uploads of
// all agents and of one that wait for their inspection; and the running inspections, those for public copies included.
type usage struct {
	AllBytes   int64 `db:"all_bytes"`
	AllFiles   int64 `db:"all_files"`
	AllRecords int64 `db:"all_records"`
	Bytes      int64 `db:"bytes"`
	Files      int64 `db:"files"`
	Records    int64 `db:"records"`
	AllUploads int64 `db:"all_uploads"`
	Uploads    int64 `db:"uploads"`
	AllWaiting int64 `db:"all_waiting"`
	Waiting    int64 `db:"waiting"`
	Running    int64 `db:"running"`
}

// demand holds the amounts that an upload needs.
type demand struct{ records, files, bytes, uploads, inspections int64 }

// check returns the fault of the first limit of §8 that the demand would break. Only what is asked for is looked at. An upload
// that finds a free slot does not wait.
func (u *usage) check(q limits.Quotas, d demand) error {
	free := max(0, int64(q.Inspections)-u.Running)
	for _, limit := range []struct {
		quota int
		extra int64
		used  int64
		more  int64
		code  fault.Code
	}{
		{q.UploadsPerAgent, 0, u.Uploads, d.uploads, fault.UploadBusy},
		{q.Uploads, 0, u.AllUploads, d.uploads, fault.UploadBusy},
		{q.FileRecordsPerAgent, 0, u.Records, d.records, fault.StorageRecordLimit},
		{q.FileRecords, 0, u.AllRecords, d.records, fault.StorageRecordLimit},
		{q.FilesPerAgent, 0, u.Files, d.files, fault.StorageQuotaExceeded},
		{q.Files, 0, u.AllFiles, d.files, fault.StorageQuotaExceeded},
		{q.StorageBytesPerAgent, 0, u.Bytes, d.bytes, fault.StorageQuotaExceeded},
		{q.StorageBytes, 0, u.AllBytes, d.bytes, fault.StorageQuotaExceeded},
		{q.Inspections, maxQueuePerAgent + free - int64(q.Inspections), u.Waiting, d.inspections, fault.UploadBusy},
		{q.Inspections, maxQueue + free - int64(q.Inspections), u.AllWaiting, d.inspections, fault.UploadBusy},
	} {
		if limit.quota > 0 && limit.more > 0 && limit.used+limit.more > int64(limit.quota)+limit.extra {
			return fault.New(limit.code)
		}
	}
	return nil
}

// check returns the fault of the first limit that an agent's demand would break. The reservation except (uuid.Nil for none) does
// not count: its upload asks for all it is going to need.
func (a *API) check(ctx context.Context, q db.Querier, agent, except uuid.UUID, d demand) error {
	u, err := db.One[usage](ctx, q, readUsage, everyone, agent, except)
	if err != nil {
		return err
	}
	return u.check(a.Quotas, d)
}

// reservation holds the share of the budgets of an upload that is being received. It is one row of upload_reservations, which
// counts against the budgets like a file; the record of the upload replaces it. It is not safe for concurrent use.
type reservation struct {
	id, owner uuid.UUID
	// bytes may be stored.
	bytes int64
	// refused is the budget's fault: from then on nothing of the upload may be stored. The form is read nevertheless, because its
	// own faults and the answer to a repeat come before the budget (§1.6).
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
		case <-time.After(placeInterval):
		}
	}
}

func (a *API) tryReserve(ctx context.Context, owner uuid.UUID, bytes int64) (*reservation, error) {
	place := demand{uploads: 1}
	if err := a.check(ctx, a.DB.SQL, owner, uuid.Nil, place); err != nil { // without the lock, since many may be waiting
		return nil, err
	}
	var made *reservation
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		u, err := db.One[usage](ctx, tx.SQL, readUsage, everyone, owner, uuid.Nil)
		if err != nil {
			return err
		}
		if err := u.check(a.Quotas, place); err != nil {
			return err
		}
		made = &reservation{id: uuid.Must(uuid.NewV7()), owner: owner, bytes: bytes}
		files := 1
		if made.refused = u.check(a.Quotas, demand{records: 1, files: 1, bytes: bytes}); made.refused != nil {
			made.bytes, files = 0, 0
		}
		_, err = tx.SQL.ExecContext(ctx, insertReservation.Text, made.id, owner, made.bytes, files, leaseTime.Seconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// extend reserves at least need more bytes, and a whole step where the budgets have it. It sets refused where they do not.
func (a *API) extend(ctx context.Context, r *reservation, need int64) error {
	var (
		more  int64
		limit error
	)
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		u, err := db.One[usage](ctx, tx.SQL, readUsage, everyone, r.owner, uuid.Nil)
		if err != nil {
			return err
		}
		for _, more = range []int64{max(need, min(reserveStep, MaxFile-r.bytes)), need} {
			if limit = u.check(a.Quotas, demand{bytes: more}); limit == nil {
				return changeReservation(ctx, tx, extendReservation, r.id, more)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.refused = limit; limit == nil {
		r.bytes += more
	}
	return nil
}

// changeReservation runs a statement on one reservation, which must be there.
func changeReservation(ctx context.Context, tx *db.Tx, s *db.Statement, args ...any) error {
	result, err := tx.SQL.ExecContext(ctx, s.Text, args...)
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

// release deletes the bytes of an upload that made no record, and then its reservation. It does nothing if there is no
// reservation, because the upload has a record then, or, when only expired is set, where the reservation is still renewed.
func (a *API) release(ctx context.Context, id uuid.UUID, onlyExpired bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		var expired bool
		err := tx.SQL.QueryRowContext(ctx, lockReservation.Text, id).Scan(&expired)
		if errors.Is(err, sql.ErrNoRows) || (err == nil && onlyExpired && !expired) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.deletePrefix(ctx, id); err != nil {
			return err
		}
		_, err = tx.SQL.ExecContext(ctx, deleteReservation.Text, id)
		return err
	})
}

// releaseExpired releases reservations of uploads whose process has died.
func (a *API) releaseExpired(ctx context.Context) error {
	expired, err := db.Column[uuid.UUID](ctx, a.DB.SQL, expiredReservations)
	for _, id := range expired {
		err = errors.Join(err, a.release(ctx, id, true))
	}
	return err
}
