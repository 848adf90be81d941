package faults

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// stage is a scene without a production.
func stage() *Scene {
	return &Scene{
		Bed:    &testbed.Bed{Servers: []*testbed.Server{{Name: "server-1"}}},
		Random: rand.New(rand.NewPCG(1, 1)), Recorder: history.NewRecorder(1),
	}
}

// A fault that cannot be injected is undone and tried again.
func TestStrikeTriesAgain(t *testing.T) {
	t.Parallel()
	tried, undone := 0, 0
	f := Fault{Name: "shy", Strike: func(context.Context, *Scene) (string, Lift, error) {
		tried++
		lift := func(context.Context) error { undone++; return nil }
		if tried < 2 {
			return "", lift, injected(errors.New("busy"))
		}
		return "it", lift, nil
	}}
	one, err := strike(t.Context(), stage(), f)
	require.NoError(t, err)
	require.Equal(t, "it", one.recorded.Target)
	require.Equal(t, 2, tried)
	require.Equal(t, 1, undone)
}

// A failure of the service does not count as a fault that could not be injected.
func TestStrikeDoesNotHideDefects(t *testing.T) {
	t.Parallel()
	tried := 0
	_, err := strike(t.Context(), stage(), Fault{Strike: func(context.Context, *Scene) (string, Lift, error) {
		tried++
		return "", nil, errors.New("the server does not start")
	}})
	require.EqualError(t, err, "the server does not start")
	require.Equal(t, 1, tried)
}

// A fault without effect is reported as missed, and is no error.
func TestFaultsThatMetNothingAreMissed(t *testing.T) {
	t.Parallel()
	s := stage()
	one := &struck{recorded: history.Fault{Name: "idle"}, lift: func(context.Context) error { return errNoEffect }}
	one.liftInTime(t.Context(), s)
	require.NoError(t, one.failed)
	require.Equal(t, []string{"idle: it met nothing"}, s.Missed())
}

// Every pair of faults may meet, except a fault with itself, two of the database itself, and a restore with any.
func TestPairs(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"mail-slow", "servers-lost-mailing"}:   true,
		{"table-locked", "backend-killed"}:      true,
		{"network-slow", "network-torn"}:        true,
		{"mail-slow", "mail-slow"}:              false,
		{"database-full", "database-stopped"}:   false,
		{"primary-lost", "switchover"}:          false,
		{"restored", "mail-slow"}:               false,
		{"commits-late", "restored"}:            false,
		{"version-changed", "database-stopped"}: true,
	} {
		named := func(name string) Fault {
			return table[slices.IndexFunc(table, func(f Fault) bool { return f.Name == name })]
		}
		require.Equal(t, want, named(pair[0]).mayMeet(named(pair[1])), pair)
	}
}

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
