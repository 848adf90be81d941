package attachments

import (
	"context"

	"stoa/graph/db"
)

const acceptUpload = `
UPDATE attachments SET status = 'ready', media_type = $3, width = nullif($4, 0), height = nullif($5, 0), pages = nullif($6, 0),
  reserved_bytes = size_bytes + $7::bigint, preview_bytes = $7, preview_sha256 = $8,
  lease_id = NULL, lease_until = NULL
WHERE id = $1 AND lease_id = $2 AND status = 'pending'`

// accept makes the upload ready and gives back what the preview did not need. It does nothing where the lease was lost.
func (a *API) accept(ctx context.Context, held *lease, report Report, small copied) error {
	var fits bool
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		u, err := readUsageOf(ctx, tx.SQL, held.owner)
		if err != nil {
			return err
		}
		if fits = u.refuse(a.Quotas, 0, 0, held.size+small.size-held.reserved) == nil; !fits {
			return nil
		}
		_, err = tx.SQL.ExecContext(ctx, acceptUpload, held.id, held.lease, report.MediaType, report.Width, report.Height, report.Pages,
			small.size, small.sum)
		return err
	})
	if err != nil {
		return err
	}
	if !fits {
		return a.reject(ctx, held, Report{MediaType: report.MediaType, Reason: "Its preview does not fit into the storage budget."})
	}
	a.announce(held.id)
	return nil
}

const rejectUpload = `
UPDATE attachments SET status = 'rejected', rejection = $3, media_type = nullif($4, ''), reserved_bytes = 0, deleted_at = stoa_now(),
  lease_id = NULL, lease_until = NULL
WHERE id = $1 AND lease_id = $2 AND status = 'pending'`

// reject records the refusal and gives back everything but the record.
func (a *API) reject(ctx context.Context, held *lease, report Report) error {
	return a.end(ctx, held, rejectUpload, report.Reason, report.MediaType)
}

const dropUpload = `DELETE FROM attachments WHERE id = $1 AND lease_id = $2 AND status = 'pending'`

// drop forgets an upload that this machine could not keep, so that it may be repeated.
func (a *API) drop(ctx context.Context, held *lease) error { return a.end(ctx, held, dropUpload) }

func (a *API) end(ctx context.Context, held *lease, statement string, args ...any) error {
	var ended int64
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		result, err := tx.SQL.ExecContext(ctx, statement, append([]any{held.id, held.lease}, args...)...)
		if err != nil {
			return err
		}
		ended, err = result.RowsAffected()
		return err
	})
	if err == nil && ended == 1 {
		a.erase(ctx, held.id)
		a.announce(held.id)
	}
	return err
}
