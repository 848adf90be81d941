package testbed

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// While writes are held, reads go on. If its client does not end the hold, the database does. Without a database nothing is held.
func TestHoldWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every night")
	}
	t.Parallel()
	address := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, address, "STOA_TEST_DATABASE_URL is not set: run the tests through `make test`")
	pool, err := sql.Open("postgres", address)
	require.NoError(t, err)
	schema := "held_" + uuid.NewString()[:8]
	run := func(statement string) error {
		_, err := pool.ExecContext(context.Background(), statement)
		return err
	}
	require.NoError(t, run("CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".t (n int)"))
	t.Cleanup(func() {
		require.NoError(t, run("DROP SCHEMA "+schema+" CASCADE"))
		require.NoError(t, pool.Close())
	})
	bed, table := &Bed{DB: pool}, schema+".t"
	write, read := "INSERT INTO "+table+" VALUES (1)", "SELECT * FROM "+table
	bed.HoldWrites(t.Context(), table, time.Hour)
	require.ErrorContains(t, run("SET LOCAL lock_timeout = 20; "+write), "lock timeout")
	require.NoError(t, run(read))
	require.NoError(t, run(write), "it waits until the database ends what holds it")

	bed.HoldWrites(t.Context(), table, time.Millisecond)
	require.NoError(t, run(write))

	away, err := sql.Open("postgres", address)
	require.NoError(t, err)
	require.NoError(t, away.Close())
	(&Bed{DB: away}).HoldWrites(t.Context(), table, time.Hour)
}
