package prepared_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// A server that takes what it is asked and says nothing is given up, whether or
// not the caller's context ends, and is used again when it answers.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	for name, patient := range map[string]bool{"patient": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			through, hung := graphtest.Hangable(t, withSetting(t, w.dsn, "statement_timeout", "300"))
			connector, err := prepared.NewConnector(through)
			require.NoError(t, err)
			db := sql.OpenDB(connector)
			db.SetMaxOpenConns(1)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			require.Equal(t, 1, one[int](t, db, "SELECT $1::int", 1))

			hung.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if !patient {
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			failed := make(chan error, 1)
			go func() {
				var n int
				failed <- db.QueryRowContext(ctx, "SELECT $1::int", 2).Scan(&n)
			}()
			select {
			case err = <-failed:
			case <-time.After(slack.TestWait):
				t.Fatal("the read never ended")
			}
			require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code, "%v", err)

			hung.Store(false)
			eventually(t, "the server answers again", func() bool {
				var n int
				return db.QueryRowContext(t.Context(), "SELECT $1::int", 3).Scan(&n) == nil && n == 3
			})
		})
	}
}

// What a statement may take is not silence.
func TestSlowStatementIsNotSilence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	connector, err := prepared.NewConnector(withSetting(t, w.dsn, "statement_timeout", "200"))
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "SELECT pg_sleep($1)", 60)
	require.ErrorContains(t, err, "statement timeout")
}

// A call ends soon after its context's deadline, wherever the server hangs and whatever the statement might take.
func TestSilentServerWithinADeadline(t *testing.T) {
	t.Parallel()
	const wait = 300 * time.Millisecond
	for name, c := range map[string]struct {
		// prepare is done while the server answers, hang while it does not.
		prepare func(ctx context.Context, t *testing.T, db *sql.DB) (tx *sql.Tx)
		hang    func(ctx context.Context, db *sql.DB, tx *sql.Tx) error
	}{
		"connecting": {nil, func(ctx context.Context, db *sql.DB, _ *sql.Tx) error { return db.PingContext(ctx) }},
		"a statement": {warm, func(ctx context.Context, db *sql.DB, _ *sql.Tx) error {
			_, err := db.ExecContext(ctx, "SELECT $1::int", 2)
			return err
		}},
		"a first statement": {warm, func(ctx context.Context, db *sql.DB, _ *sql.Tx) error {
			_, err := db.ExecContext(ctx, "SELECT $1::int + 1", 2)
			return err
		}},
		"a statement that is not cancelled": {warm, func(ctx context.Context, db *sql.DB, _ *sql.Tx) error {
			rows, err := db.QueryContext(uncancelled{ctx}, "SELECT $1::int", 2)
			if err == nil {
				err = rows.Close()
			}
			return err
		}},
		"BEGIN": {warm, func(ctx context.Context, db *sql.DB, _ *sql.Tx) error {
			_, err := db.BeginTx(ctx, nil)
			return err
		}},
		"COMMIT": {begun, func(_ context.Context, _ *sql.DB, tx *sql.Tx) error { return tx.Commit() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			through, hung := graphtest.Hangable(t, withSetting(t, w.dsn, "statement_timeout", "600000"))
			connector, err := prepared.NewConnector(through)
			require.NoError(t, err)
			db := sql.OpenDB(connector)
			db.SetMaxOpenConns(1)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			var (
				ctx    context.Context
				cancel context.CancelFunc
				tx     *sql.Tx
			)
			eventually(t, "it is ready in time", func() bool {
				ctx, cancel = context.WithTimeout(t.Context(), wait) //nolint:fatcontext // each try has its own time
				t.Cleanup(cancel)
				if c.prepare != nil {
					tx = c.prepare(ctx, t, db)
				}
				return ctx.Err() == nil && (c.prepare == nil || tx != nil || name != "COMMIT")
			})
			hung.Store(true)
			failed := make(chan error, 1)
			go func() { failed <- c.hang(ctx, db, tx) }()
			select {
			case err = <-failed:
			case <-time.After(slack.TestWait):
				t.Fatal("it never ended")
			}
			require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code, "%v", err)

			hung.Store(false)
			require.Equal(t, 3, one[int](t, db, "SELECT $1::int", 3))
		})
	}
}

func warm(_ context.Context, t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	require.Equal(t, 1, one[int](t, db, "SELECT $1::int", 1))
	return nil
}

func begun(ctx context.Context, _ *testing.T, db *sql.DB) *sql.Tx {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SELECT $1::int", 1); err != nil {
		return nil
	}
	return tx
}

// uncancelled has a deadline, but is never done.
type uncancelled struct{ context.Context }

func (uncancelled) Done() <-chan struct{} { return nil }
func (uncancelled) Err() error            { return nil }

// The session follows the timeout that a context asks for, and the deadline of the driver with it.
func TestStatementTimeoutOfAContext(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.dsn = withSetting(t, w.dsn, "statement_timeout", "200")
	db := w.open(t, 1)
	short, long := prepared.WithStatementTimeout(t.Context(), 50*time.Millisecond), prepared.WithStatementTimeout(t.Context(), time.Minute)
	show := func(ctx context.Context) (value string) {
		require.NoError(t, db.QueryRowContext(ctx, "SHOW statement_timeout").Scan(&value))
		return value
	}
	require.Equal(t, "200ms", show(t.Context()))
	require.Equal(t, "50ms", show(short))
	require.Equal(t, "1min", show(long))
	_, err := db.ExecContext(long, "SELECT pg_sleep($1)", 1.0)
	require.NoError(t, err, "neither the server nor the driver gives it up")
	require.Equal(t, "200ms", show(t.Context()))

	tx, err := db.BeginTx(long, nil)
	require.NoError(t, err)
	must(t, tx, "SELECT pg_sleep($1)", 0.7)
	require.Equal(t, "1min", one[string](t, tx, "SHOW statement_timeout"))
	require.NoError(t, tx.Commit())
	_, err = db.ExecContext(t.Context(), "SELECT pg_sleep($1)", 60)
	require.ErrorContains(t, err, "statement timeout")
}

// A statement whose caller has given up is cancelled, unless the connection is one that never cancels: then it goes on.
func TestGivenUpStatements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []prepared.Option
		runs    bool
	}{
		"cancelled":     {nil, false},
		"never cancels": {[]prepared.Option{prepared.NeverCancel()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			db := w.open(t, 1, c.options...)
			pid := one[int](t, db, "SELECT pg_backend_pid() WHERE $1", true)
			t.Cleanup(func() {
				_, err := w.plain.Exec("SELECT pg_terminate_backend($1)", pid)
				require.NoError(t, err)
			})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := db.ExecContext(ctx, "SELECT pg_sleep($1)", 600)
			require.Error(t, err)
			sleeping := func() bool {
				return one[bool](t, w.plain, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active')", pid)
			}
			if c.runs {
				require.True(t, sleeping())
			} else {
				eventually(t, "it is cancelled", func() bool { return !sleeping() })
			}
			require.Equal(t, 1, one[int](t, db, "SELECT $1::int", 1), "the pool goes on")
		})
	}
}
