package prepared_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

// migrations are changes under a kept statement, each with what PostgreSQL then
// says about it.
var migrations = []struct {
	name    string
	before  string
	query   string
	arg     any
	change  string
	newArg  any
	refusal pqerror.Code
}{
	{
		"column added", "CREATE TABLE t (n int)", "SELECT * FROM t WHERE n = $1", 1,
		"ALTER TABLE t ADD m int", 1, "0A000",
	},
	{
		"column renamed", "CREATE TABLE t (n int)", "SELECT * FROM t WHERE 1 = $1", 1,
		"ALTER TABLE t RENAME n TO m", 1, "0A000",
	},
	{
		"result type changed", "CREATE TABLE t (n int)", "SELECT n FROM t WHERE 1 = $1", 1,
		"ALTER TABLE t ALTER n TYPE bigint", 1, "0A000",
	},
	{
		"statements discarded", "CREATE TABLE t (n int)", "SELECT n FROM t WHERE n = $1", 1,
		"", 1, "26000",
	},
	{
		"parameter type changed", "CREATE TABLE t (n int)", "SELECT FROM t WHERE n = $1", 1,
		"ALTER TABLE t ALTER n TYPE text", "a", "22P02",
	},
	{
		"operator gone", "CREATE TABLE t (n int)", "SELECT FROM t WHERE n = $1", 1,
		"ALTER TABLE t ALTER n TYPE text", "1", "42883",
	},
	{
		"assignment impossible", "CREATE TABLE t (n text)", "INSERT INTO t VALUES ($1)", "1",
		"ALTER TABLE t ALTER n TYPE jsonb USING n::jsonb", `{"a": 1}`, "42804",
	},
	{
		"integer widened", "CREATE TABLE t (n int)", "INSERT INTO t VALUES ($1)", 1,
		"ALTER TABLE t ALTER n TYPE bigint", int64(1) << 40, "22003",
	},
	{
		"enum replaced", "CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (n e)", "INSERT INTO t VALUES ($1)", "a",
		`ALTER TYPE e RENAME TO old; CREATE TYPE e AS ENUM ('a', 'b');
		 ALTER TABLE t ALTER n TYPE e USING n::text::e; DROP TYPE old`, "b", "XX000",
	},
}

func TestMigrationIsNotNoticedOutsideATransaction(t *testing.T) {
	t.Parallel()
	for _, m := range migrations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			db := w.open(t, 1)
			must(t, db, m.before)
			must(t, db, m.query, m.arg)
			migrate(t, w, db, m.change)

			must(t, db, m.query, m.newArg)

			require.Equal(t, map[string]int{m.query: 1}, kept(t, db), "prepared anew")
		})
	}
}

func TestMigrationFailsATransactionOnce(t *testing.T) {
	t.Parallel()
	for _, m := range migrations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			db := w.open(t, 1)
			must(t, db, m.before)
			must(t, db, m.query, m.arg)
			migrate(t, w, db, m.change)

			err := inTx(t, db, m.query, m.newArg)
			require.True(t, prepared.Stale(err), "%v", err)
			require.NotNil(t, pq.As(err, m.refusal), "%v", err)

			require.NoError(t, inTx(t, db, m.query, m.newArg))
		})
	}
}

func TestQueryIsRepeatedLikeExec(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	must(t, db, "CREATE TABLE t (n int, s text); INSERT INTO t VALUES (1, 'one')")
	const query = "SELECT s FROM t WHERE n = $1"
	require.Equal(t, "one", one[string](t, db, query, 1))
	must(t, w.plain, "ALTER TABLE t ALTER s TYPE varchar")

	require.Equal(t, "one", one[string](t, db, query, 1))
}

// One stale statement warns every connection: the repeated transaction may get
// another one, and a second statement must not fail it again.
func TestStaleStatementWarnsEveryConnection(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 2)
	must(t, db, "CREATE TABLE t (n int)")
	queries := []string{"SELECT * FROM t WHERE n = $1", "SELECT n FROM t WHERE n = $1"}
	var conns []*sql.Conn
	for range 2 {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		for _, query := range queries {
			must(t, conn, query, 1)
		}
		conns = append(conns, conn)
	}
	must(t, w.plain, "ALTER TABLE t ALTER n TYPE bigint, ADD m int")

	require.True(t, prepared.Stale(inTx(t, conns[0], queries[0], 1)))

	for _, conn := range conns {
		for _, query := range queries {
			require.NoError(t, inTx(t, conn, query, 1))
		}
	}
}

func TestSavepointCuresAStaleStatement(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	must(t, db, "CREATE TABLE t (n int)")
	const query = "SELECT * FROM t WHERE n = $1"
	must(t, db, query, 1)
	must(t, w.plain, "ALTER TABLE t ADD m int")

	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	must(t, tx, "SAVEPOINT s")
	_, err = tx.ExecContext(t.Context(), query, 1)
	require.True(t, prepared.Stale(err))
	must(t, tx, "ROLLBACK TO s")
	must(t, tx, query, 1)
	require.NoError(t, tx.Commit())
}

func TestTransactionBegunByHandIsNotRepeatedInto(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	must(t, db, "CREATE TABLE t (n int)")
	const query = "SELECT * FROM t WHERE n = $1"
	must(t, db, query, 1)
	must(t, w.plain, "ALTER TABLE t ADD m int")

	must(t, db, "BEGIN")
	_, err := db.ExecContext(t.Context(), query, 1)
	require.True(t, prepared.Stale(err))
	require.EqualError(t, err, "prepared: stale statement: pq: cached plan must not change result type (0A000)")
	must(t, db, "ROLLBACK")
	must(t, db, query, 1)
}

// A statement that is simply wrong, or meets a wrong value, says what it says
// under plain lib/pq, and a transaction that repeats itself learns it too.
func TestRealFaultIsNotStale(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	must(t, db, "CREATE TABLE t (n int PRIMARY KEY)")
	const (
		insert = "INSERT INTO t VALUES ($1)"
		search = "SELECT to_tsquery('simple', $1)"
	)
	must(t, db, insert, 1)
	must(t, db, search, "a")

	err := inTx(t, db, insert, 1)
	require.NotNil(t, pq.As(err, "23505"))
	require.False(t, prepared.Stale(err))

	err = inTx(t, db, search, "a &")
	require.NotNil(t, pq.As(err, "42601"))
	require.False(t, prepared.Stale(err))

	_, err = db.ExecContext(t.Context(), insert, "one")
	require.NotNil(t, pq.As(err, "22P02"))
	require.False(t, prepared.Stale(err))

	must(t, db, insert, 2)
	must(t, w.plain, "DROP TABLE t")
	require.True(t, prepared.Stale(inTx(t, db, insert, 3)), "may have been created anew")
	err = inTx(t, db, insert, 3)
	require.EqualError(t, err, `pq: relation "t" does not exist at column 13 (42P01)`)
	require.False(t, prepared.Stale(err))

	require.False(t, prepared.Stale(nil))
	require.False(t, prepared.Stale(sql.ErrNoRows))
}

// migrate runs change on its own connection; no change means that the session's statements are discarded.
func migrate(t testing.TB, w *world, db *sql.DB, change string) {
	t.Helper()
	if change == "" {
		must(t, db, "DEALLOCATE ALL")
		return
	}
	must(t, w.plain, change)
}

type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

func inTx(t testing.TB, on beginner, query string, args ...any) error {
	t.Helper()
	tx, err := on.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	if _, err := tx.ExecContext(t.Context(), query, args...); err != nil {
		require.NoError(t, tx.Rollback())
		return err
	}
	return tx.Commit()
}
