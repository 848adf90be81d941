package attachments

import (
	"cmp"
	"context"
	"errors"
	"math"
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
	// fairUploads is how many uploads of an agent may be under way while others wait (§8).
	fairUploads = 2
)

var (
	// placeWait is how long an upload waits for a place (§8), checking every placeInterval, and firstPlaceWait is how long an
	// upload waits if its agent has no place: long enough to detect slow uploads.
	placeWait      = slack.Of(time.Second)
	firstPlaceWait = slack.Of(5 * time.Second)
)

// everyone is the key of the usage row that counts the files of all agents.
var everyone = uuid.Nil

// locked runs change in a transaction that holds the lock under which budgets and inspection slots are given out.
func (a *API) locked(ctx context.Context, change func(ctx context.Context, tx *db.Tx) error) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := db.Exec(ctx, tx.SQL, named("lock_budgets"), everyone); err != nil {
			return err
		}
		return change(ctx, tx)
	})
}

// usage holds the sums that uploads are checked against. A field with All counts all agents, the other one agent. Bytes, Files
// and Records include running uploads. Waiting counts uploads that wait for an inspection, Inspecting the agent's running
// inspections, Running all running inspections. Spent is the agent's processor time in seconds, as it was Idle seconds ago.
type usage struct {
	AllBytes   int64   `db:"all_bytes"`
	AllFiles   int64   `db:"all_files"`
	AllRecords int64   `db:"all_records"`
	Bytes      int64   `db:"bytes"`
	Files      int64   `db:"files"`
	Records    int64   `db:"records"`
	AllUploads int64   `db:"all_uploads"`
	Uploads    int64   `db:"uploads"`
	AllWaiting int64   `db:"all_waiting"`
	Waiting    int64   `db:"waiting"`
	Inspecting int64   `db:"inspecting"`
	Running    int64   `db:"running"`
	Spent      float64 `db:"spent"`
	Idle       float64 `db:"idle"`
}

// forgotten returns the seconds by which an agent's counted processor time decreases each second.
func forgotten(q limits.Quotas) float64 {
	return float64(q.InspectionSecondsPerHour) / time.Hour.Seconds()
}

// checkTime returns upload_busy while the agent's inspections have used the processor time that it has in an hour.
func (u *usage) checkTime(q limits.Quotas) error {
	over := u.Spent - u.Idle*forgotten(q) - float64(q.InspectionSecondsPerHour)
	if q.InspectionSecondsPerHour == 0 || over <= 0 {
		return nil
	}
	busy := fault.New(fault.UploadBusy).Say("The files of this agent have taken the processor time that it has in an hour.")
	return busy.After(time.Duration(math.Ceil(over/forgotten(q))) * time.Second)
}

// demand holds the amounts that an upload needs.
type demand struct{ records, files, bytes, uploads, inspections int64 }

// check returns the fault of the first limit of §8 that the demand would exceed. Amounts of 0 are not checked. An upload that
// finds a free slot does not wait.
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

// reservation holds the share of the budgets of an upload that is being received. It is one row of upload_reservations, which
// counts against the budgets like a file; the record of the upload replaces it. It is not safe for concurrent use.
type reservation struct {
	id, owner uuid.UUID
	// bytes is how many bytes may be stored.
	bytes int64
	// refused is the fault of the budget. Once it is set, no bytes of the upload may be stored. The form is still read, because
	// its own faults and the answer to a repeat come before the budget (§1.6).
	refused error
}

// reserve takes a place among the uploads under way and, if the budgets allow it, reserves this many bytes. It returns
// upload_busy if no place becomes free within a second, or within five for an agent that holds none.
func (a *API) reserve(ctx context.Context, owner uuid.UUID, bytes int64) (*reservation, error) {
	for began := time.Now(); ; {
		made, held, err := a.tryReserve(ctx, owner, bytes)
		wait := firstPlaceWait
		if held > 0 {
			wait = placeWait
		}
		if !errors.Is(err, fault.New(fault.UploadBusy)) || time.Since(began) > wait {
			return made, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(placeInterval):
		}
	}
}

// tryReserve also returns how many places the agent holds. If it holds none, it may end an upload of another agent to make room.
func (a *API) tryReserve(ctx context.Context, owner uuid.UUID, bytes int64) (made *reservation, held int64, err error) {
	place := demand{uploads: 1}
	u, err := db.One[usage](ctx, a.DB.SQL, named("read_usage"), everyone, owner, uuid.Nil) // without the lock, since many may be waiting
	if err != nil {
		return nil, 0, err
	}
	held = u.Uploads
	if err := u.check(a.Quotas, place); err != nil {
		if held > 0 {
			return nil, held, err
		}
		if n, failed := db.Changed(ctx, a.DB.SQL, named("end_upload"), owner, fairUploads); failed != nil || n == 0 {
			return nil, held, cmp.Or(failed, err)
		}
	}
	err = a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		u, err := db.One[usage](ctx, tx.SQL, named("read_usage"), everyone, owner, uuid.Nil)
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
		return db.Exec(ctx, tx.SQL, named("insert_reservation"), made.id, owner, made.bytes, files, leaseTime.Seconds())
	})
	if err != nil {
		return nil, held, err
	}
	return made, held, nil
}

// extend reserves a whole step, or need bytes if the budgets do not allow a step. If they allow neither, it sets refused.
func (a *API) extend(ctx context.Context, r *reservation, need int64) error {
	var (
		more  int64
		limit error
	)
	err := a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		u, err := db.One[usage](ctx, tx.SQL, named("read_usage"), everyone, r.owner, uuid.Nil)
		if err != nil {
			return err
		}
		for _, more = range []int64{max(need, min(reserveStep, MaxFile-r.bytes)), need} {
			if limit = u.check(a.Quotas, demand{bytes: more}); limit == nil {
				return changeReservation(ctx, tx, named("extend_reservation"), r.id, more)
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

// changeReservation runs a statement on one reservation, which must exist.
func changeReservation(ctx context.Context, tx *db.Tx, s *db.Statement, args ...any) error {
	n, err := db.Changed(ctx, tx.SQL, s, args...)
	if err == nil && n == 0 {
		return errReservationLost()
	}
	return err
}

// errReservationLost is the fault of an upload that could not renew its reservation in time: its bytes are deleted.
func errReservationLost() error {
	return fault.New(fault.ServiceUnavailable).Say("The upload was interrupted; send it again.")
}

// release deletes the bytes of an upload without a record, and then its reservation. It does nothing if there is no reservation,
// because the upload then has a record, or if onlyExpired is set and the reservation has not expired.
func (a *API) release(ctx context.Context, id uuid.UUID, onlyExpired bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		expired, err := db.Column[bool](ctx, tx.SQL, named("lock_reservation"), id)
		if err != nil || len(expired) == 0 || onlyExpired && !expired[0] {
			return err
		}
		if err := a.deletePrefix(ctx, id); err != nil {
			return err
		}
		return db.Exec(ctx, tx.SQL, named("delete_reservation"), id)
	})
}
