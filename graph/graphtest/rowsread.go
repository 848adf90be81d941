package graphtest

import (
	"context"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
)

// RowsRead runs a statement and counts the rows of a table that it reads: those of walks, and those that an index is right or wrong
// about.
func (w *World) RowsRead(table string, statement *db.Statement, args ...any) int64 {
	w.t.Helper()
	return w.RowsReadBy(table, func(on db.Querier) error {
		rows, err := on.QueryContext(context.Background(), statement.Text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
}

// RowsReadBy counts those that all statements of a function read.
func (w *World) RowsReadBy(table string, read func(on db.Querier) error) int64 {
	w.t.Helper()
	ctx := context.Background()
	conn, err := w.DB.SQL.Pool.Conn(ctx)
	require.NoError(w.t, err)
	defer conn.Close() //nolint:errcheck // it returns to the pool
	// counted includes what the connection did before and has not reported yet.
	counted := func() (rows int64) {
		require.NoError(w.t, conn.QueryRowContext(ctx, `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
			FROM pg_stat_xact_user_tables WHERE relname = $1`, table).Scan(&rows))
		return rows
	}
	_, err = conn.ExecContext(ctx, "BEGIN") // within a transaction nothing is reported
	require.NoError(w.t, err)
	defer conn.ExecContext(ctx, "ROLLBACK") //nolint:errcheck // it ends with the connection otherwise
	before := counted()
	require.NoError(w.t, read(conn))
	return counted() - before
}
