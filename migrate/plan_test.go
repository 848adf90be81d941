package migrate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/migrate"
)

// A plan names the missing steps in their order, and the existing tables that they would lock.
func TestPlan(t *testing.T) {
	t.Parallel()
	database := open(t)
	steps, err := migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	require.Empty(t, steps)

	_, err = database.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id >= 11;
		UPDATE function_files SET hash = '' WHERE name = 'functions/clock.sql'`)
	require.NoError(t, err)
	steps, err = migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	written, err := filepath.Glob("sql/*.sql")
	require.NoError(t, err)
	require.Len(t, steps, len(written)-10+1, "the migrations from 0011 on, and a file of functions")
	require.Equal(t, "sql/0011_owners.sql", steps[0].Name)
	require.Contains(t, steps[0].Purpose, "Owners")
	require.Contains(t, steps[0].Locks, "bots (ACCESS EXCLUSIVE: everybody waits)")
	require.Equal(t, "sql/0013_webhooks.sql", steps[2].Name)
	require.Equal(t, "sql/0014_ratings.sql", steps[3].Name)
	require.Contains(t, steps[1].Locks, "bots (SHARE UPDATE EXCLUSIVE: nobody waits)")
	require.Contains(t, steps[5].Locks, "orders (SHARE UPDATE EXCLUSIVE: nobody waits)")
	require.Equal(t, migrate.Step{Name: "functions/clock.sql"}, steps[len(steps)-1])
	requireCurrent(t, database, false)
}

// The plan of an empty database is everything, and makes no table.
func TestPlanOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := open(t)
	database.SetMaxOpenConns(1) // the setting is of the session
	_, err := database.ExecContext(t.Context(), "CREATE SCHEMA empty; SET search_path = empty")
	require.NoError(t, err)
	steps, err := migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	written, err := filepath.Glob("sql/*.sql")
	require.NoError(t, err)
	functions, err := os.ReadDir("functions")
	require.NoError(t, err)
	require.Greater(t, len(steps), len(written)+len(functions), "and River's")
	for _, step := range steps {
		require.Empty(t, step.Locks, step.Name)
	}
	var made int
	require.NoError(t, database.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_class WHERE relnamespace = 'empty'::regnamespace").Scan(&made))
	require.Zero(t, made)
}
