package attachments

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
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
		u, err := readUsageOf(ctx, tx.SQL, held.owner, uuid.Nil)
		if err != nil {
			return err
		}
		if fits = u.refuse(a.Quotas, demand{bytes: held.size + small.size - held.reserved}) == nil; !fits {
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

// drop forgets an upload that this machine could not keep, so that it may be sent again.
func (a *API) drop(ctx context.Context, held *lease) error { return a.end(ctx, held, dropUpload) }

const failUpload = `
WITH gone AS (DELETE FROM attachments WHERE id = $1 AND lease_id = $2 AND status = 'pending' RETURNING id, owner_id)
INSERT INTO failed_uploads (id, agent_id, failed_at) SELECT id, owner_id, stoa_now() FROM gone`

// fail is drop for an upload whose inspections crashed. It goes on counting among the records of its agent, so that a file that
// crashes every inspection cannot be sent without end.
func (a *API) fail(ctx context.Context, held *lease) error { return a.end(ctx, held, failUpload) }

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
