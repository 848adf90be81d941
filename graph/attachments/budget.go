package attachments

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/limits"
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

// usage is what all agents' files take, what one agent's do, and how many uploads wait for their verdict.
type usage struct{ allBytes, allFiles, allRecords, bytes, files, records, pending int64 }

const readUsage = `
SELECT e.bytes, e.files, e.records, coalesce(u.bytes, 0), coalesce(u.files, 0), coalesce(u.records, 0),
  (SELECT count(*) FROM attachments WHERE status = 'pending')
FROM storage_usage e LEFT JOIN storage_usage u ON u.agent_id = $2 WHERE e.agent_id = $1`

func readUsageOf(ctx context.Context, q querier, agent uuid.UUID) (u usage, err error) {
	err = q.QueryRowContext(ctx, readUsage, everyone, agent).
		Scan(&u.allBytes, &u.allFiles, &u.allRecords, &u.bytes, &u.files, &u.records, &u.pending)
	return u, err
}

// refuse returns the fault of the first figure of §8 that one more record, files more active files and bytes more bytes
// would break.
func (u usage) refuse(q limits.Quotas, records, files, bytes int64) error {
	for _, figure := range []struct {
		quota int
		used  int64
		more  int64
		code  fault.Code
	}{
		{q.FileRecordsPerAgent, u.records, records, fault.StorageRecordLimit},
		{q.FileRecords, u.allRecords, records, fault.StorageRecordLimit},
		{q.FilesPerAgent, u.files, files, fault.StorageQuotaExceeded},
		{q.Files, u.allFiles, files, fault.StorageQuotaExceeded},
		{q.StorageBytesPerAgent, u.bytes, bytes, fault.StorageQuotaExceeded},
		{q.StorageBytes, u.allBytes, bytes, fault.StorageQuotaExceeded},
	} {
		if figure.quota > 0 && figure.more > 0 && figure.used+figure.more > int64(figure.quota) {
			return fault.New(figure.code)
		}
	}
	if q.Inspections > 0 && records > 0 && u.pending >= int64(q.Inspections)+queueLength {
		return fault.New(fault.UploadBusy)
	}
	return nil
}

const readUpload = `SELECT ` + columns + ` FROM attachments a WHERE a.owner_id = $1 AND a.upload_id = $2`

// admit says what is to become of an upload: the record of the earlier one that it repeats, a fault, or neither for a new one.
func (a *API) admit(ctx context.Context, q querier, owner uuid.UUID, f form) (*record, error) {
	r := new(record)
	err := q.QueryRowContext(ctx, readUpload, owner, f.uploadID).Scan(r.targets()...)
	switch {
	case err == nil:
		return r, r.repeat(f)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	u, err := readUsageOf(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	return nil, u.refuse(a.Quotas, 1, 1, f.reserve)
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
