package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// open returns a pool of one connection to a new schema, and a plain connection to the same.
func open(t *testing.T, address string, options db.Options) (d *db.DB, plain *sql.DB) {
	t.Helper()
	schema := "s" + strings.ReplaceAll(uuid.NewString(), "-", "")
	parsed := graphtest.Got(url.Parse(address))(t)
	query := parsed.Query()
	query.Set("search_path", schema)
	parsed.RawQuery = query.Encode()
	plain = graphtest.Got(db.OpenPlain(parsed.String()))(t)
	t.Cleanup(func() { require.NoError(t, plain.Close()) })
	graphtest.OK(t)(plain.ExecContext(t.Context(), "CREATE SCHEMA "+schema))
	options.Connections = 1
	d = graphtest.Got(db.Open(parsed.String(), options))(t)
	t.Cleanup(func() { _ = d.Close() }) // fails if the connection is lost
	return d, plain
}

func must(t *testing.T, on db.Querier, query string, args ...any) {
	t.Helper()
	graphtest.OK(t, query)(on.ExecContext(t.Context(), query, args...))
}

// one returns the single value of a query.
func one[T any](t *testing.T, on db.Querier, query string, args ...any) T {
	t.Helper()
	found := graphtest.Got(db.Column[T](t.Context(), on, &db.Statement{Text: query}, args...))(t)
	require.Len(t, found, 1)
	return found[0]
}

// kept returns how often each kept statement of the connection has run.
func kept(t *testing.T, d *db.DB) map[string]int {
	t.Helper()
	all, runs := "SELECT statement, generic_plans + custom_plans AS runs FROM pg_prepared_statements", map[string]int{}
	rows := graphtest.Got(db.All[struct {
		Statement string `db:"statement"`
		Runs      int    `db:"runs"`
	}](t.Context(), d.SQL, &db.Statement{Text: all}))(t)
	for _, r := range rows {
		runs[r.Statement] = r.Runs
	}
	return runs
}

// Only kept statements are repeated if they are stale, so this is also the list of repeatable statements.
func TestWhichStatementsAreKept(t *testing.T) {
	t.Parallel()
	d, _ := open(t, graphtest.NewDatabase(t), db.Options{})
	must(t, d.SQL, `CREATE TABLE t (n int); CREATE PROCEDURE p(n int) LANGUAGE sql AS 'SELECT n'`)
	for _, c := range []struct {
		query string
		args  []any
		kept  bool
	}{
		{"SELECT $1::int", []any{1}, true},
		{"\n\tSELECT $1::int", []any{1}, true},
		{"WITH x AS (SELECT $1::int) TABLE x", []any{1}, true},
		{"INSERT INTO t VALUES ($1)", []any{1}, true},
		{"UPDATE t SET n = $1", []any{1}, true},
		{"DELETE FROM t WHERE n = $1", []any{1}, true},
		{"SELECT 41", nil, false}, // no test names it
		{"SELECT n FROM t WHERE n IN ($1, $2)", []any{1, 2}, false},
		{"CALL p($1)", []any{1}, false},
		{"EXPLAIN SELECT $1::int", []any{1}, false},
		{db.PlanPerValue + " SELECT $1::int", []any{1}, false},
	} {
		for range 3 {
			must(t, d.SQL, c.query, c.args...)
		}
		runs := kept(t, d)[c.query]
		require.Equal(t, map[bool]int{true: 3}[c.kept], runs, c.query)
	}
}

// The bound of kept statements counts those without a name: a server has hundreds of named ones.
func TestNamedStatementsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	d, _ := open(t, graphtest.NewDatabase(t), db.Options{})
	for i := range 300 {
		name := fmt.Sprintf("named_%d", i)
		must(t, d.SQL, db.Load(fstest.MapFS{"a.sql": {Data: fmt.Appendf(nil, "-- name: %s(n integer)\nSELECT :n::integer, '%s'", name, name)}}).Named(name).Text, 1)
	}
	others := 0
	for i := range 300 {
		must(t, d.SQL, fmt.Sprintf("SELECT $1::int, 'other_%d'", i), 1)
	}
	for statement := range kept(t, d) {
		if strings.Contains(statement, "other_") {
			others++
		}
	}
	require.Equal(t, 256, others)
}

// A transaction prepares nothing, because that needs a second connection. Its missing statements are ready for the next one.
func TestStatementsOfATransactionAreKept(t *testing.T) {
	t.Parallel()
	d, _ := open(t, graphtest.NewDatabase(t), db.Options{})
	must(t, d.SQL, "CREATE TABLE t (n int)")
	const query = "INSERT INTO t VALUES ($1)"
	for range 3 {
		require.NoError(t, d.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return graphtest.Err(tx.SQL.ExecContext(ctx, query, 1))
		}))
	}
	require.Equal(t, map[string]int{query: 2}, kept(t, d))
}

// migrations are schema changes under a kept statement, each with PostgreSQL's error for it.
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

// Outside a transaction a migration has no visible effect; a transaction is repeated once.
func TestMigrationsUnderAKeptStatement(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	for _, m := range migrations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, inside := range []bool{false, true} {
				d, plain := open(t, address, db.Options{})
				must(t, d.SQL, m.before)
				must(t, d.SQL, m.query, m.arg)
				if m.change == "" {
					must(t, d.SQL, "DEALLOCATE ALL")
				} else {
					must(t, plain, m.change)
				}
				if !inside {
					must(t, d.SQL, m.query, m.newArg)
					continue
				}
				var seen []error
				require.NoError(t, d.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					_, err := tx.SQL.ExecContext(ctx, m.query, m.newArg)
					seen = append(seen, err)
					return err
				}))
				require.Len(t, seen, 2)
				require.True(t, db.Retryable(seen[0]), "%v", seen[0])
				require.NotNil(t, pq.As(seen[0], m.refusal), "%v", seen[0])
			}
		})
	}
}

// A statement that is wrong, or has a wrong value, is not stale.
func TestRealFaultsAreNotStale(t *testing.T) {
	t.Parallel()
	d, plain := open(t, graphtest.NewDatabase(t), db.Options{})
	must(t, d.SQL, "CREATE TABLE t (n int PRIMARY KEY)")
	const insert, search = "INSERT INTO t VALUES ($1)", "SELECT to_tsquery('simple', $1)"
	must(t, d.SQL, insert, 1)
	must(t, d.SQL, search, "a")
	for _, c := range []struct {
		query string
		arg   any
		code  pqerror.Code
	}{{insert, 1, "23505"}, {search, "a &", "42601"}, {insert, "one", "22P02"}} {
		_, err := d.SQL.ExecContext(t.Context(), c.query, c.arg)
		require.NotNil(t, pq.As(err, c.code), "%v", err)
		require.False(t, db.Retryable(err))
	}
	require.Contains(t, kept(t, d), insert, "a wrong value does not make it be prepared anew")
	must(t, plain, "DROP TABLE t")
	_, err := d.SQL.ExecContext(t.Context(), insert, 3)
	require.NotNil(t, pq.As(err, "42P01"), "%v", err)
}

func TestLostConnections(t *testing.T) {
	t.Parallel()
	d, plain := open(t, graphtest.NewDatabase(t), db.Options{})
	const query = "SELECT pg_backend_pid() + $1"
	end := func(pid int) {
		must(t, plain, "SELECT pg_terminate_backend($1)", pid)
		eventually(t, func() bool {
			return one[int](t, plain, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == 0
		})
	}
	before := one[int](t, d.SQL, query, 0)
	end(before)
	require.NotEqual(t, before, one[int](t, d.SQL, query, 0), "unseen, on another connection")

	ran := 0
	err := d.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		ran++
		end(one[int](t, tx.SQL, query, 0))
		return graphtest.Err(tx.SQL.ExecContext(ctx, query, 0))
	})
	require.ErrorIs(t, err, driver.ErrBadConn)
	require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code)
	require.Equal(t, 1, ran, "a transaction is not repeated")
	require.NotZero(t, one[int](t, d.SQL, query, 0))
}

// After a failover, a pool may have connections to the new standby. The first refused write closes them.
func TestConnectionsToAStandbyLeaveThePool(t *testing.T) {
	t.Parallel()
	d, _ := open(t, graphtest.NewDatabase(t), db.Options{})
	must(t, d.SQL, "SET default_transaction_read_only = on") // as on a standby
	_, err := d.SQL.ExecContext(t.Context(), "CREATE TABLE written ()")
	require.NotNil(t, pq.As(err, pqerror.ReadOnlySQLTransaction), err)
	must(t, d.SQL, "CREATE TABLE written ()")

	var before int
	require.Error(t, d.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		before = one[int](t, tx.SQL, "SELECT pg_backend_pid()")
		must(t, tx.SQL, "SET TRANSACTION READ ONLY")
		return graphtest.Err(tx.SQL.ExecContext(ctx, "DROP TABLE written"))
	}))
	require.NotEqual(t, before, one[int](t, d.SQL, "SELECT pg_backend_pid()"))
}

// A server that accepts data but does not answer is abandoned, wherever it hangs, and is used again when it answers.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	statement := func(ctx context.Context, d *db.DB) error {
		return graphtest.Err(d.SQL.ExecContext(ctx, "SELECT $1::int", 2))
	}
	for name, hang := range map[string]func(ctx context.Context, d *db.DB, hung *atomic.Bool) error{
		"a kept statement": func(ctx context.Context, d *db.DB, hung *atomic.Bool) error {
			if err := statement(ctx, d); err != nil {
				return err
			}
			hung.Store(true)
			return statement(ctx, d)
		},
		"a first statement, and connecting": func(ctx context.Context, d *db.DB, hung *atomic.Bool) error {
			hung.Store(true)
			return errors.Join(statement(ctx, d), statement(ctx, d))
		},
		"BEGIN": func(ctx context.Context, d *db.DB, hung *atomic.Bool) error {
			hung.Store(true)
			return d.Tx(ctx, func(context.Context, *db.Tx) error { return nil })
		},
		"COMMIT": func(ctx context.Context, d *db.DB, hung *atomic.Bool) error {
			return d.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.SQL.ExecContext(ctx, "SELECT $1::int", 1)
				hung.Store(err == nil)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := graphtest.NewDatabaseProxy(t, graphtest.NewDatabase(t))
			d, _ := open(t, proxy.URL, db.Options{StatementTimeout: slack.Of(300 * time.Millisecond)})
			must(t, d.SQL, "SELECT 1")
			failed := make(chan error, 1)
			go func() {
				ctx, cancel := db.Bounded(t.Context(), db.RequestTimeout)
				defer cancel()
				failed <- hang(ctx, d, &proxy.Hung)
			}()
			select {
			case err := <-failed:
				require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code, "%v", err)
			case <-time.After(slack.TestWait):
				t.Fatal("it never ended")
			}
			proxy.Hung.Store(false)
			eventually(t, func() bool { return statement(t.Context(), d) == nil })
		})
	}
}

// A connection that breaks while connecting is not an internal error.
func TestConnectingMayBreak(t *testing.T) {
	t.Parallel()
	deaf := graphtest.Got(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { require.NoError(t, deaf.Close()) })
	go func() {
		for {
			conn, err := deaf.Accept()
			if err != nil {
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}()
	d := graphtest.Got(db.Open("postgres://stoa:secret@"+deaf.Addr().String()+"/stoa?sslmode=disable", db.Options{}))(t)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	for range 20 {
		require.Equal(t, fault.ServiceUnavailable, fault.From(d.Ping(t.Context())).Code)
	}
}

// A statement within its time-out does not count as silence. A patient statement may take longer.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	d, _ := open(t, graphtest.NewDatabase(t), db.Options{StatementTimeout: 200 * time.Millisecond})
	slow := func(ctx context.Context) error {
		return graphtest.Err(d.SQL.ExecContext(ctx, "SELECT pg_sleep($1)", 0.8))
	}
	require.ErrorContains(t, slow(t.Context()), "statement timeout")
	patient := db.Patient(t.Context())
	require.NoError(t, slow(patient))
	require.NoError(t, d.Tx(patient, func(ctx context.Context, tx *db.Tx) error {
		return graphtest.Err(tx.SQL.ExecContext(ctx, "SELECT pg_sleep($1)", 0.8))
	}))
}

// The end of a context ends a running statement only if it is patient. It ends the wait for a connection, and starts nothing.
func TestContextsThatEnd(t *testing.T) {
	t.Parallel()
	d, plain := open(t, graphtest.NewDatabase(t), db.Options{})
	plain.SetMaxOpenConns(1) // the session that holds the lock
	must(t, plain, "SELECT pg_advisory_lock(1)")
	blocked := func(statements int) {
		eventually(t, func() bool {
			return one[int](t, plain, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()") == statements
		})
	}
	run := func(ctx context.Context) (stop func(), ended chan error) {
		ctx, stop = context.WithCancel(ctx)
		ended = make(chan error, 1)
		go func() {
			_, err := d.SQL.ExecContext(ctx, "SELECT pg_advisory_xact_lock(1)")
			ended <- err
		}()
		blocked(1)
		return stop, ended
	}
	stop, ended := run(db.Patient(t.Context()))
	stop()
	require.Error(t, <-ended)
	blocked(0)
	stop, ended = run(t.Context())
	waiting, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, graphtest.Err(d.SQL.ExecContext(waiting, "SELECT $1::int", 1)), context.DeadlineExceeded)
	stop()
	must(t, plain, "SELECT pg_advisory_unlock(1)")
	require.NoError(t, <-ended)
	require.ErrorIs(t, graphtest.Err(d.SQL.ExecContext(waiting, "SELECT $1::int", 1)), context.DeadlineExceeded)
}

func eventually(t *testing.T, reached func() bool) {
	t.Helper()
	require.Eventually(t, reached, slack.TestWait, 5*time.Millisecond)
}
