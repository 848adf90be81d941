package prepared_test

import (
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

// A pooler may forget everything between two transactions, so each has the settings of the dsn, and none leaves any.
func TestPooledTransactionsHaveTheirOwnSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.dsn = withSetting(t, w.dsn, "statement_timeout", "1234")
	db := w.open(t, 1, prepared.TransactionPooling())
	const query = "SELECT current_setting('statement_timeout') WHERE $1 = 1"
	require.Equal(t, "1234ms", one[string](t, db, query, 1))
	ctx := prepared.WithStatementTimeout(t.Context(), 5*time.Second)
	var found string
	require.NoError(t, db.QueryRowContext(ctx, query, 1).Scan(&found))
	require.Equal(t, "5s", found)
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(query, 1).Scan(&found))
	require.Equal(t, "5s", found)
	require.NoError(t, tx.Commit())
	require.Equal(t, "1234ms", one[string](t, db, query, 1))
	require.Zero(t, one[int](t, db, "SELECT count(*) FROM pg_prepared_statements WHERE $1 = 1", 1))
	_, err = db.Prepare(query)
	require.Error(t, err)
}

// A statement is done when it is committed: what fails then fails for the caller, and the connection goes on.
func TestPooledStatementFailsAtCommit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1, prepared.TransactionPooling())
	must(t, db, "CREATE TABLE numbers (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	const insert = "INSERT INTO numbers VALUES ($1) RETURNING n"
	require.Equal(t, 7, one[int](t, db, insert, 7))
	var n int
	require.NotNil(t, pq.As(db.QueryRow(insert, 7).Scan(&n), pqerror.UniqueViolation))
	rows, err := db.Query(insert, 7)
	require.NoError(t, err)
	for rows.Next() {
		require.NoError(t, rows.Scan(&n))
	}
	require.NotNil(t, pq.As(rows.Err(), pqerror.UniqueViolation), "the rows end with the failure")
	require.NoError(t, rows.Close())
	_, err = db.Exec("INSERT INTO numbers VALUES ($1)", 7)
	require.NotNil(t, pq.As(err, pqerror.UniqueViolation))
	_, err = db.Exec("SELECT 1 / $1::int", 0)
	require.NotNil(t, pq.As(err, pqerror.DivisionByZero))
	require.Equal(t, 1, one[int](t, db, "SELECT count(*) FROM numbers WHERE $1 = 1", 1))
}
