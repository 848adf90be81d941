package attachments

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// removeFile ends the availability of a file at once. What an order had stays on its card, unavailable; every other use ends.
const removeFile = `
WITH gone AS (
  SELECT id, bound_kind, bound_id FROM attachments WHERE id = $1 AND status = 'ready' AND deleted_at IS NULL FOR UPDATE
), unhung AS (
  UPDATE bots b SET avatar_id = nullif(b.avatar_id, g.id), character_id = nullif(b.character_id, g.id)
  FROM gone g WHERE b.id = g.bound_id AND g.bound_kind IN ('avatar', 'character')
)
UPDATE attachments a SET deleted_at = stoa_now(),
  bound_id = CASE WHEN g.bound_kind IN ('order_input', 'order_result') THEN a.bound_id END,
  bound_kind = CASE WHEN g.bound_kind IN ('order_input', 'order_result') THEN a.bound_kind END
FROM gone g WHERE a.id = g.id`

// Remove takes a file away from everyone, inside a transaction of an operator's procedure; Sweep deletes its bytes. not_found
// where there are none.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	result, err := tx.SQL.ExecContext(ctx, removeFile, id)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return fault.New(fault.NotFound)
	}
	return err
}
