package db

import "context"

// ExecBatches runs a statement again and again, with batch as its last argument, until it changes fewer rows than that, and returns
// how many rows it changed. Each run is a transaction of its own, so a sweep over any number of rows never runs into
// statement_timeout, and one that is stopped half-way has lost nothing.
func (d *DB) ExecBatches(ctx context.Context, query string, batch int64, args ...any) (int64, error) {
	args = append(args, batch)
	for changed := int64(0); ; {
		result, err := d.SQL.ExecContext(ctx, query, args...)
		if err != nil {
			return changed, err
		}
		n, err := result.RowsAffected()
		changed += n
		if err != nil || n < batch {
			return changed, err
		}
	}
}
