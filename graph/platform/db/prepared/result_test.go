package prepared_test

import (
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

func TestSeveralResultSets(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	rows, err := db.QueryContext(t.Context(), "SELECT 1; SELECT 'a', 'b' UNION ALL SELECT 'c', 'd'; SELECT WHERE false")
	require.NoError(t, err)

	var sizes [][2]int
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		require.NoError(t, err)
		n := 0
		for rows.Next() {
			n++
		}
		sizes = append(sizes, [2]int{len(columns), n})
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())

	require.Equal(t, [][2]int{{1, 1}, {2, 2}, {0, 0}}, sizes)
	require.NoError(t, db.PingContext(t.Context()))
}

// An open result refuses every other call on its connection, which stays in
// step with the server.
func TestOpenResultKeepsTheConnectionBusy(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	const series = "SELECT n FROM generate_series(1, 3) n"
	for name, open := range map[string][]any{
		series:                   nil,
		series + " WHERE n < $1": {4},
	} {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		rows, err := conn.QueryContext(t.Context(), name, open...)
		require.NoError(t, err)
		require.True(t, rows.Next())

		const busy = "still being read"
		_, err = conn.ExecContext(t.Context(), "SELECT $1::int", 1)
		require.ErrorContains(t, err, busy)
		_, err = conn.ExecContext(t.Context(), "SELECT 1")
		require.ErrorContains(t, err, busy)
		require.ErrorContains(t, conn.QueryRowContext(t.Context(), "SELECT $1::int", 1).Err(), busy)
		_, err = conn.PrepareContext(t.Context(), "SELECT 1")
		require.ErrorContains(t, err, busy)
		_, err = conn.BeginTx(t.Context(), nil)
		require.ErrorContains(t, err, busy)
		require.ErrorContains(t, conn.PingContext(t.Context()), busy)

		require.True(t, rows.Next())
		require.NoError(t, rows.Close())
		must(t, conn, "SELECT $1::int", 1)
		require.NoError(t, conn.Close())
	}
}

func TestStatementOfTheCallersOwn(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	st, err := db.PrepareContext(t.Context(), "SELECT $1::int + 1")
	require.NoError(t, err)
	var n int
	require.NoError(t, st.QueryRowContext(t.Context(), 1).Scan(&n))
	require.Equal(t, 2, n)
	require.Len(t, kept(t, db), 1)

	require.NoError(t, st.Close())
	require.Empty(t, kept(t, db))
}

func TestCopyIn(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, "CREATE TABLE t (n int, s text)")
	must(t, db, "INSERT INTO t VALUES ($1)", 0)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	st, err := tx.PrepareContext(t.Context(), "COPY t (n, s) FROM STDIN")
	require.NoError(t, err)
	for n := range 3000 {
		_, err = st.ExecContext(t.Context(), n, "a tab \t and a \\")
		require.NoError(t, err)
	}
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES ($1)", 1)
	require.ErrorContains(t, err, "still being read")
	res, err := st.ExecContext(t.Context())
	require.NoError(t, err)
	copied, err := res.RowsAffected()
	require.NoError(t, err)
	require.Equal(t, int64(3000), copied)
	must(t, tx, "INSERT INTO t VALUES ($1)", 1)
	require.NoError(t, st.Close())
	require.NoError(t, tx.Commit())

	require.Equal(t, 3002, one[int](t, db, "SELECT count(*) FROM t"))
	require.Equal(t, 3000, one[int](t, db, "SELECT count(*) FROM t WHERE s = $1", "a tab \t and a \\"))
}

func TestFailedCopyIn(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, "CREATE TABLE t (n int)")
	_, err := db.PrepareContext(t.Context(), "COPY t FROM STDIN")
	require.ErrorContains(t, err, "inside a transaction")

	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	st, err := tx.PrepareContext(t.Context(), "COPY t FROM STDIN")
	require.NoError(t, err)
	_, err = st.ExecContext(t.Context(), "not a number")
	require.NoError(t, err)
	require.NotNil(t, pq.As(st.Close(), "22P02"))
	_, err = tx.ExecContext(t.Context(), "SELECT $1::int", 1)
	require.NotNil(t, pq.As(err, "25P02"), "%v", err)
	require.NoError(t, tx.Rollback())

	must(t, db, "SELECT $1::int", 1)
}
