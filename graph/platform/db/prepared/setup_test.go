package prepared_test

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/slack"
)

// world is one test's schema, with a plain lib/pq pool beside what it opens.
type world struct {
	dsn    string
	schema string
	plain  *sql.DB
}

func setup(t testing.TB) *world {
	t.Helper()
	dsn := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, dsn, "STOA_TEST_DATABASE_URL is not set: run through make test")

	schema := "prepared_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	w := &world{dsn: withSetting(t, dsn, "search_path", schema), schema: schema}
	connector, err := pq.NewConnector(w.dsn)
	require.NoError(t, err)
	w.plain = sql.OpenDB(connector)
	w.plain.SetMaxOpenConns(2)
	must(t, w.plain, "CREATE SCHEMA "+schema)
	t.Cleanup(func() {
		_, err := w.plain.Exec("DROP SCHEMA " + schema + " CASCADE")
		require.NoError(t, err)
		require.NoError(t, w.plain.Close())
	})
	return w
}

// open returns a pool of at most conns connections.
func (w *world) open(t testing.TB, conns int, opts ...prepared.Option) *sql.DB {
	t.Helper()
	connector, err := prepared.NewConnector(w.dsn, opts...)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func withSetting(t testing.TB, dsn, key, value string) string {
	t.Helper()
	if !strings.Contains(dsn, "://") {
		return dsn + " " + key + "='" + value + "'"
	}
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	query := u.Query()
	query.Set(key, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// runner is a pool, a connection or a transaction.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func must(t testing.TB, on runner, query string, args ...any) {
	t.Helper()
	_, err := on.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

// one scans the single value that query returns.
func one[T any](t testing.TB, on runner, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, on.QueryRowContext(t.Context(), query, args...).Scan(&v))
	return v
}

// kept returns how often each kept statement of the connection has run, by its
// text. The pool must have one connection.
func kept(t testing.TB, on runner) map[string]int {
	t.Helper()
	rows, err := on.QueryContext(t.Context(), "SELECT statement, generic_plans + custom_plans FROM pg_prepared_statements")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	runs := map[string]int{}
	for rows.Next() {
		var text string
		var n int
		require.NoError(t, rows.Scan(&text, &n))
		runs[text] = n
	}
	require.NoError(t, rows.Err())
	return runs
}

// eventually waits for a condition that the server reaches by itself.
func eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	require.Eventually(t, reached, slack.TestWait, 5*time.Millisecond, what)
}
