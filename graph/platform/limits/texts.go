package limits

import (
	"context"

	"stoa/graph/platform/db"
)

// storeTexts counts every agent's texts again once the limits have changed: nothing is counted while both are switched off.
const storeTexts = `
WITH changed AS (
  UPDATE text_limits SET bytes = $1, bytes_per_day = $2
  WHERE (bytes, bytes_per_day) IS DISTINCT FROM ($1::bigint, $2::bigint) RETURNING id
)
DELETE FROM text_usage WHERE EXISTS (SELECT FROM changed)`

// StoreTexts stores the limits of texts where the database reads them, which counts each text in the transaction that writes it
// (migrate/functions/texts.sql). A server calls it when it starts; all servers of an installation have the limits of the last.
func (q Quotas) StoreTexts(ctx context.Context, on db.Querier) error {
	_, err := on.ExecContext(ctx, storeTexts, q.TextBytes, q.TextBytesPerDay)
	return err
}
