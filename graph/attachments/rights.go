package attachments

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
)

const (
	confirm   = `UPDATE attachments SET rights_confirmed_at = stoa_now() WHERE id = ANY ($2::uuid[]) AND owner_id = $1 AND rights_confirmed_at IS NULL`
	confirmed = `SELECT count(*) FROM attachments WHERE id = ANY ($2::uuid[]) AND owner_id = $1 AND rights_confirmed_at IS NOT NULL`
)

// Confirm notes that the owner claims the right to publish these files. The claim stays, whatever the files are bound to later
// (contract §12, posts).
func Confirm(ctx context.Context, tx *db.Tx, owner uuid.UUID, ids []uuid.UUID) error {
	_, err := tx.SQL.ExecContext(ctx, confirm, owner, pq.Array(texts(ids)))
	return err
}

// Confirmed tells whether the owner has claimed the right to publish every one of these files, which are all different.
func Confirmed(ctx context.Context, tx *db.Tx, owner uuid.UUID, ids []uuid.UUID) (bool, error) {
	var n int
	err := tx.SQL.QueryRowContext(ctx, confirmed, owner, pq.Array(texts(ids))).Scan(&n)
	return n == len(ids), err
}
