package prepared_test

import (
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

func TestTransactionOptions(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, "CREATE TABLE t (n int)")

	for _, c := range []struct {
		opts     *sql.TxOptions
		level    string
		readOnly bool
	}{
		{nil, "read committed", false},
		{&sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true}, "read committed", true},
		{&sql.TxOptions{Isolation: sql.LevelRepeatableRead}, "repeatable read", false},
		{&sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true}, "serializable", true},
	} {
		tx, err := db.BeginTx(t.Context(), c.opts)
		require.NoError(t, err)
		require.Equal(t, c.level, one[string](t, tx, "SELECT current_setting($1)", "transaction_isolation"))
		_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES ($1)", 1)
		require.Equal(t, c.readOnly, pq.As(err, "25006") != nil, "%v", err)
		require.NoError(t, tx.Rollback())
	}
	_, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelLinearizable})
	require.ErrorContains(t, err, "isolation level not supported")
	require.Zero(t, one[int](t, db, "SELECT count(*) FROM t"))
}

// Statements are no part of the transaction in which they were prepared.
func TestStatementOutlivesARollback(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, "CREATE TABLE t (n int)")
	const query = "INSERT INTO t VALUES ($1)"
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	must(t, tx, query, 1)
	require.NoError(t, tx.Rollback())

	must(t, db, query, 2)

	require.Equal(t, map[string]int{query: 2}, kept(t, db))
	require.Equal(t, 2, one[int](t, db, "SELECT sum(n) FROM t"))
}

func TestFailedTransaction(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	const query = "SELECT 1 / $1::int"
	must(t, db, query, 1)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), query, 0)
	require.NotNil(t, pq.As(err, "22012"))
	for _, query := range []string{query, "SELECT $1::text"} {
		_, err = tx.ExecContext(t.Context(), query, 1)
		require.NotNil(t, pq.As(err, "25P02"), "%v", err)
	}
	_, err = tx.ExecContext(t.Context(), "SELECT 1")
	require.NotNil(t, pq.As(err, "25P02"), "%v", err)
	require.ErrorIs(t, tx.Commit(), pq.ErrInFailedTransaction)

	must(t, db, query, 1)
}

// The forms without a context, which database/sql leaves alone, work as well.
func TestConnectionWithoutContext(t *testing.T) {
	t.Parallel()
	connector, err := prepared.NewConnector(setup(t).dsn)
	require.NoError(t, err)
	conn, err := connector.Connect(t.Context())
	require.NoError(t, err)
	tx, err := conn.Begin() //nolint:staticcheck // driver.Conn demands it
	require.NoError(t, err)
	st, err := conn.Prepare("CREATE TABLE t ()")
	require.NoError(t, err)
	_, err = st.Exec([]driver.Value{}) //nolint:staticcheck // the counterpart
	require.NoError(t, err)
	require.NoError(t, st.Close())
	require.NoError(t, tx.Commit())
	require.NoError(t, conn.Close())
}
