package faults

import (
	"context"
	"database/sql"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Transactions that have written certain events wait at their commit until the fault is over.
func TestLateCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every night")
	}
	t.Parallel()
	address := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, address, "STOA_TEST_DATABASE_URL is not set: run the tests through `make test`")
	pool, err := sql.Open("postgres", address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	ctx := t.Context()
	conn, err := pool.Conn(ctx)
	require.NoError(t, err)
	schema := "late_" + uuid.NewString()[:8]
	run := func(ctx context.Context, statements ...string) error {
		for _, statement := range statements {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, run(ctx, "CREATE SCHEMA "+schema, "SET search_path = "+schema, "CREATE TABLE events (id uuid PRIMARY KEY)"))
	t.Cleanup(func() {
		require.NoError(t, run(context.Background(), "ROLLBACK", "DROP SCHEMA "+schema+" CASCADE"))
		require.NoError(t, conn.Close())
	})
	// end does the first step of a commit; the database's timeouts do not apply to a commit.
	end := func(last byte) error {
		id := uuid.New()
		id[15] = last
		require.NoError(t, run(ctx, "BEGIN", "INSERT INTO events VALUES ('"+id.String()+"')", "SET LOCAL statement_timeout = 400"))
		err := run(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
		require.NoError(t, run(ctx, "ROLLBACK"))
		return err
	}
	require.NoError(t, end(0))
	require.NoError(t, run(ctx, lateCommits))
	require.ErrorContains(t, end(0), "statement timeout")
	require.ErrorContains(t, end(63), "statement timeout")
	require.NoError(t, end(64))
	require.NoError(t, run(ctx, promptCommits))
	require.NoError(t, end(0))
	require.NoError(t, run(ctx, promptCommits), "there is nothing left to take away")
}
