package prepared_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

// The hook sees what callers run, and nothing that this package does for itself.
func TestHookSeesStatements(t *testing.T) {
	t.Parallel()
	type seen struct {
		query  string
		failed bool
	}
	var (
		mu  sync.Mutex
		all []seen
	)
	watch := func(ctx context.Context, query string) (context.Context, func(error)) {
		return ctx, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, seen{query, err != nil})
		}
	}
	var clock prepared.Clock
	db := setup(t).open(t, 1, prepared.WithHook(watch), prepared.WithClock(&clock))
	clock.Set(3)
	must(t, db, "CREATE TABLE t (n int PRIMARY KEY)")
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES ($1)", 1)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	tx, err = db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, 1, one[int](t, tx, "SELECT n FROM t WHERE n = $1", 1))
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES ($1)", 1)
	require.Error(t, err)
	require.NoError(t, tx.Rollback())

	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []seen{
		{"CREATE TABLE t (n int PRIMARY KEY)", false}, {"INSERT INTO t VALUES ($1)", false}, {"COMMIT", false},
		{"SELECT n FROM t WHERE n = $1", false}, {"INSERT INTO t VALUES ($1)", true},
	}, slices.Clone(all))
}
