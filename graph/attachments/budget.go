package attachments

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// queueLength is how many uploads may wait for an inspection beside those being inspected (contract §7).
const queueLength = 8

// everyone is whose usage counts the files of all agents.
var everyone = uuid.Nil

// lock takes the lock under which budgets and inspection slots are given out. A transaction that changes reserved_bytes or a
// lease takes it before the record's own lock.
func lock(ctx context.Context, tx *db.Tx) error {
	_, err := tx.SQL.ExecContext(ctx, "SELECT FROM storage_usage WHERE agent_id = $1 FOR UPDATE", everyone)
	return err
}

// usage is what all agents' files take, what one agent's do, uploads under way included; how many uploads are under way; and how
// many wait for their verdict.
type usage struct {
	allBytes, allFiles, allRecords, bytes, files, records int64
	allUploads, uploads                                   int64
	pending                                               int64
}

const readUsage = `
SELECT e.bytes + h.all_bytes, e.files + h.all_files, e.records + h.all_files,
  coalesce(u.bytes, 0) + h.bytes, coalesce(u.files, 0) + h.files, coalesce(u.records, 0) + h.files, h.all_uploads, h.uploads,
  (SELECT count(*) FROM attachments WHERE status = 'pending')
FROM storage_usage e LEFT JOIN storage_usage u ON u.agent_id = $2
CROSS JOIN (SELECT coalesce(sum(bytes), 0)::bigint AS all_bytes, coalesce(sum(files), 0) AS all_files, count(*) AS all_uploads,
    coalesce(sum(bytes) FILTER (WHERE agent_id = $2), 0)::bigint AS bytes,
    coalesce(sum(files) FILTER (WHERE agent_id = $2), 0) AS files,
    count(*) FILTER (WHERE agent_id = $2) AS uploads
  FROM upload_reservations WHERE id <> $3) h
WHERE e.agent_id = $1`

// readUsageOf reads the usage without the reservation except, whose upload asks for what it is going to need instead.
func readUsageOf(ctx context.Context, q db.Querier, agent, except uuid.UUID) (u usage, err error) {
	err = q.QueryRowContext(ctx, readUsage, everyone, agent, except).
		Scan(&u.allBytes, &u.allFiles, &u.allRecords, &u.bytes, &u.files, &u.records, &u.allUploads, &u.uploads, &u.pending)
	return u, err
}

// demand is what an upload asks for.
type demand struct{ records, files, bytes, uploads, inspections int64 }

// refuse returns the fault of the first figure of §8 that the demand would break. Only what is asked for is looked at.
func (u usage) refuse(q limits.Quotas, d demand) error {
	for _, figure := range []struct {
		quota int
		spare int64
		used  int64
		more  int64
		code  fault.Code
	}{
		{q.UploadsPerAgent, 0, u.uploads, d.uploads, fault.UploadBusy},
		{q.Uploads, 0, u.allUploads, d.uploads, fault.UploadBusy},
		{q.FileRecordsPerAgent, 0, u.records, d.records, fault.StorageRecordLimit},
		{q.FileRecords, 0, u.allRecords, d.records, fault.StorageRecordLimit},
		{q.FilesPerAgent, 0, u.files, d.files, fault.StorageQuotaExceeded},
		{q.Files, 0, u.allFiles, d.files, fault.StorageQuotaExceeded},
		{q.StorageBytesPerAgent, 0, u.bytes, d.bytes, fault.StorageQuotaExceeded},
		{q.StorageBytes, 0, u.allBytes, d.bytes, fault.StorageQuotaExceeded},
		{q.Inspections, queueLength, u.pending, d.inspections, fault.UploadBusy},
	} {
		if figure.quota > 0 && figure.more > 0 && figure.used+figure.more > int64(figure.quota)+figure.spare {
			return fault.New(figure.code)
		}
	}
	return nil
}

const readUpload = `SELECT ` + columns + ` FROM attachments a WHERE a.owner_id = $1 AND a.upload_id = $2`

// admit says what is to become of an upload that has been received: the record of the earlier one that it repeats, a fault, or
// neither for a new one.
func (a *API) admit(ctx context.Context, q db.Querier, r *reservation, f form) (*record, error) {
	earlier := new(record)
	err := q.QueryRowContext(ctx, readUpload, r.owner, f.uploadID).Scan(earlier.targets()...)
	switch {
	case err == nil:
		return earlier, earlier.repeat(f)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case r.refused != nil:
		return nil, r.refused
	}
	u, err := readUsageOf(ctx, q, r.owner, r.id)
	if err != nil {
		return nil, err
	}
	return nil, u.refuse(a.Quotas, demand{records: 1, files: 1, bytes: f.reserve, inspections: 1})
}

// repeat tells why an upload under the same upload_id is not answered with this record.
func (r *record) repeat(f form) error {
	same := bytes.Equal(r.Sha256, f.sum) && r.FileName == f.fileName && r.Purpose == f.purpose
	switch {
	case r.Status == attachment.StatusRejected:
		return fault.New(fault.UploadUnavailable)
	case !same:
		return fault.New(fault.IdempotencyConflict)
	case r.Status == attachment.StatusPending:
		return fault.New(fault.UploadUnavailable)
	default:
		return nil
	}
}
