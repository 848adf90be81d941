package prepared_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

const pid = "SELECT pg_backend_pid()"

func TestCancelledStatementLeavesThePoolUsable(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(ctx context.Context, db *sql.DB) error{
		"exec": func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "SELECT pg_sleep($1)", 60)
			return err
		},
		"query": func(ctx context.Context, db *sql.DB) error {
			var nothing any
			return db.QueryRowContext(ctx, "SELECT pg_sleep($1)", 60).Scan(&nothing)
		},
		"transaction": func(ctx context.Context, db *sql.DB) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "SELECT pg_sleep($1)", 60)
			_ = tx.Rollback()
			return err
		},
		"rows": func(ctx context.Context, db *sql.DB) error {
			rows, err := db.QueryContext(ctx, "SELECT n, CASE n WHEN 2000 THEN pg_sleep($1)::text END FROM generate_series(1, 2000) n", 60)
			if err != nil {
				return err
			}
			for rows.Next() {
			}
			return rows.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			db := w.open(t, 1)
			must(t, db, "SELECT pg_sleep($1)", 0)
			before := one[int](t, db, pid)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() { failed <- call(ctx, db) }()
			eventually(t, "the statement sleeps", func() bool {
				return one[bool](t, w.plain, "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", before)
			})

			cancel()

			err := <-failed
			require.Condition(t, func() bool {
				return pq.As(err, "57014") != nil || errors.Is(err, context.Canceled)
			}, "%v", err)
			require.Equal(t, 7, one[int](t, db, "SELECT $1::int", 7))
			require.NotEqual(t, before, one[int](t, db, pid), "a cancelled connection must not be used again")
		})
	}
}

func TestContextThatHasEnded(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := db.ExecContext(ctx, "SELECT $1::int", 1)

	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 7, one[int](t, db, "SELECT $1::int", 7))
}

func TestServiceResumesAfterTheServerEndsAConnection(t *testing.T) {
	t.Parallel()
	const query = "SELECT pg_backend_pid() + $1"
	w := setup(t)
	db := w.open(t, 1)
	before := one[int](t, db, query, 0)

	terminate(t, w, before)
	after := one[int](t, db, query, 0)
	require.NotEqual(t, before, after, "unseen, on another connection")

	terminate(t, w, after)
	_, err := db.ExecContext(t.Context(), query, 0)
	require.NoError(t, err)

	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	terminate(t, w, one[int](t, tx, query, 0))
	_, err = tx.ExecContext(t.Context(), query, 0)
	require.ErrorIs(t, err, driver.ErrBadConn, "a transaction is not repeated")
	_ = tx.Rollback()
	require.NotZero(t, one[int](t, db, query, 0))
}

// The first use of a statement, and the eviction it causes, meet the lost
// connection in Prepare and in Close.
func TestLostConnectionIsNoticedWhenPreparing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1, prepared.CacheSize(1))

	terminate(t, w, one[int](t, db, "SELECT pg_backend_pid() + $1", 0))

	require.Equal(t, 2, one[int](t, db, "SELECT 1 + $1", 1))
}

func TestLostConnectionIsBad(t *testing.T) {
	t.Parallel()
	const query = "SELECT pg_backend_pid() + $1"
	w := setup(t)
	connector, err := prepared.NewConnector(w.dsn)
	require.NoError(t, err)
	conn, err := connector.Connect(t.Context())
	require.NoError(t, err)
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(0)}}
	rows, err := conn.(driver.QueryerContext).QueryContext(t.Context(), query, args)
	require.NoError(t, err)
	row := make([]driver.Value, 1)
	require.NoError(t, rows.Next(row))
	require.NoError(t, rows.Close())
	require.True(t, conn.(driver.Validator).IsValid())
	require.NoError(t, conn.(driver.SessionResetter).ResetSession(t.Context()))

	terminate(t, w, int(row[0].(int64)))

	_, err = conn.(driver.QueryerContext).QueryContext(t.Context(), query, args)
	require.ErrorIs(t, err, driver.ErrBadConn)
	_, err = conn.(driver.ExecerContext).ExecContext(t.Context(), query, args)
	require.ErrorIs(t, err, driver.ErrBadConn)
	require.ErrorIs(t, conn.(driver.Pinger).Ping(t.Context()), driver.ErrBadConn)
	require.ErrorIs(t, conn.(driver.SessionResetter).ResetSession(t.Context()), driver.ErrBadConn)
	require.False(t, conn.(driver.Validator).IsValid())
	_ = conn.Close()
}

// terminate ends a backend and waits until it is gone.
func terminate(t testing.TB, w *world, backend int) {
	t.Helper()
	must(t, w.plain, "SELECT pg_terminate_backend($1)", backend)
	eventually(t, "the backend is gone", func() bool {
		return one[bool](t, w.plain, "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $1", backend)
	})
}
