package migrate_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/migrate"
)

func open(t *testing.T) *sql.DB {
	t.Helper()
	database, err := sql.Open("postgres", graphtest.NewDatabase(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	return database
}

func requireCurrent(t *testing.T, database *sql.DB, want bool) {
	t.Helper()
	current, err := migrate.Current(t.Context(), database)
	require.NoError(t, err)
	require.Equal(t, want, current)
}

// A function that another version left behind is replaced, together with its triggers, and nothing else is.
func TestChangedFunctionsAreAppliedAgain(t *testing.T) {
	t.Parallel()
	database := open(t)
	requireCurrent(t, database, true)
	for _, change := range []string{
		"CREATE OR REPLACE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT 'epoch'::timestamptz $$",
		"DROP TRIGGER ledger_entries_balanced ON ledger_entries",
		"UPDATE function_files SET hash = '' WHERE name IN ('functions/clock.sql', 'functions/wallet.sql')",
	} {
		_, err := database.ExecContext(t.Context(), change)
		require.NoError(t, err)
	}
	requireCurrent(t, database, false)
	require.NoError(t, migrate.Up(t.Context(), database))
	requireCurrent(t, database, true)
	var ticks, balanced bool
	require.NoError(t, database.QueryRowContext(t.Context(), `SELECT stoa_now() > now() - interval '1 day',
		EXISTS (SELECT FROM pg_trigger WHERE tgname = 'ledger_entries_balanced')`).Scan(&ticks, &balanced))
	require.True(t, ticks)
	require.True(t, balanced)
}

// A database that has no hashes gets every function; if applying fails half-way, it keeps none of them.
func TestFunctionsAreAppliedTogether(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), "DROP TABLE function_files")
	require.NoError(t, err)
	requireCurrent(t, database, false)
	require.NoError(t, migrate.Up(t.Context(), database))
	requireCurrent(t, database, true)

	// A function cannot be replaced by one with another result, so one file fails.
	_, err = database.ExecContext(t.Context(), `DROP FUNCTION stoa_take(text, text, integer, interval, integer);
		CREATE FUNCTION stoa_take(text, text, integer, interval, integer) RETURNS void LANGUAGE sql AS '';
		UPDATE function_files SET hash = ''`)
	require.NoError(t, err)
	require.Error(t, migrate.Up(t.Context(), database))
	var applied int
	require.NoError(t, database.QueryRowContext(t.Context(), "SELECT count(*) FROM function_files WHERE hash <> ''").Scan(&applied))
	require.Zero(t, applied)
}

// A database of 0.2.0 has a stoa_take with four parameters. Calls with four arguments reach the new one.
func TestCallsReachTheNewTake(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), `CREATE FUNCTION stoa_take(limit_name text, limit_subject text, quota integer, span interval,
			OUT allowed boolean, OUT remaining integer, OUT reset_after double precision) LANGUAGE plpgsql AS 'BEGIN END';
		UPDATE function_files SET hash = ''`)
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), database))
	var remaining int
	require.NoError(t, database.QueryRowContext(t.Context(), "SELECT remaining FROM stoa_take('x', 'y', 3, interval '1 minute')").Scan(&remaining))
	require.Equal(t, 2, remaining)
}

// Servers that start at once against an empty database migrate it together.
func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	require.NoError(t, err)
	done := make(chan error)
	for range 4 {
		go func() { done <- migrate.Up(context.WithoutCancel(t.Context()), database) }()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	requireCurrent(t, database, true)
}

// A server of an older version that starts beside newer ones changes nothing and is ready.
func TestANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	database := open(t)
	const newer = "CREATE OR REPLACE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT 'epoch'::timestamptz $$"
	_, err := database.ExecContext(t.Context(), newer+`; UPDATE function_files SET hash = '' WHERE name = 'functions/clock.sql';
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	require.NoError(t, err)
	requireCurrent(t, database, true)
	require.NoError(t, migrate.Up(t.Context(), database))
	var kept bool
	require.NoError(t, database.QueryRowContext(t.Context(), "SELECT stoa_now() = 'epoch'").Scan(&kept))
	require.True(t, kept)
	steps, err := migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	require.Empty(t, steps)
}

// A migration does not wait behind a long transaction, because all others would wait behind it: it fails, leaves the schema as it
// was, and succeeds later.
func TestATableInUse(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id >= 11;
		DROP TYPE registration_proof CASCADE; DROP TABLE trash_notices, restores, email_challenges, bot_owners, owner_emails CASCADE;
		DROP TABLE webhook_time, webhook_deliveries, pending_deliveries, webhooks, reputations, ratings, processes, activity,
			installation_key CASCADE;
		ALTER TABLE bots DROP CONSTRAINT bots_key; UPDATE function_files SET hash = '';
		DROP OPERATOR @@ (text, text[]); DROP FUNCTION stoa_qgrams;
		CREATE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS 'SELECT array_to_tsvector(ARRAY[t])';
		CREATE INDEX bots_qgrams ON bots USING gin (stoa_qgrams(folded)); CREATE INDEX posts_qgrams ON posts USING gin (stoa_qgrams(folded));
		CREATE INDEX tasks_qgrams ON tasks USING gin (stoa_qgrams(folded));
		CREATE INDEX services_qgrams ON services USING gin (stoa_qgrams(folded))`)
	require.NoError(t, err)
	use, err := database.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = use.ExecContext(t.Context(), "LOCK TABLE bots IN ACCESS SHARE MODE")
	require.NoError(t, err)
	var refused *pq.Error
	require.ErrorAs(t, migrate.Up(t.Context(), database), &refused)
	require.EqualValues(t, "55P03", refused.Code)
	requireCurrent(t, database, false)
	require.NoError(t, use.Rollback())
	require.NoError(t, migrate.Up(t.Context(), database))
	requireCurrent(t, database, true)
}

// The new indexes answer the searches of a server of the version before, and find its new texts.
func TestSearchesOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	database := open(t)
	_, err := database.ExecContext(t.Context(), `
		INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, bio, encryption_public_key)
		SELECT gen_random_uuid(), now(), now(), now(), 'a' || n, 'A' || n, CASE n WHEN 70 THEN '100% Zebra_fish' ELSE 'Nothing.' END, sha256(n::text::bytea)
		FROM generate_series(1, 2000) AS n;
		INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
		SELECT gen_random_uuid(), id, 'public', bio, now(), now() FROM bots;
		INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), now(), now(), id, 'T', bio, now(), 1, 0, 1, 0 FROM bots;
		INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), now(), now(), id, 'T', bio FROM bots;
		ANALYZE`)
	require.NoError(t, err)
	database.SetMaxOpenConns(1)
	_, err = database.ExecContext(t.Context(), "SET enable_seqscan = off") // the tables are small
	require.NoError(t, err)
	column := func(query string) string {
		var all string
		require.NoError(t, database.QueryRowContext(t.Context(), query).Scan(&all))
		return all
	}
	for table, searched := range map[string]string{
		"bots": "b.folded", "posts": "CASE WHEN b.visibility = 'public' AND b.deleted_at IS NULL THEN b.folded END",
		"tasks": "CASE WHEN b.removed_at IS NULL THEN b.folded END", "services": "CASE WHEN b.deleted_at IS NULL THEN b.folded END",
	} {
		search := `WITH needle AS MATERIALIZED (SELECT lower('0% ZEBRA_F') AS folded) SELECT json_agg(b.folded) FROM ` + table +
			" b WHERE stoa_qgrams(" + searched + ") @@ (SELECT stoa_qgram_query(folded) FROM needle)"
		require.Equal(t, 1, strings.Count(column(search), "100% zebra_fish"), table)
		require.Contains(t, column("EXPLAIN (FORMAT json) "+search), table+"_trigrams")
	}
}

// A plan names the missing steps in their order, and the existing tables that they would lock.
func TestPlan(t *testing.T) {
	t.Parallel()
	database := open(t)
	steps, err := migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	require.Empty(t, steps)

	_, err = database.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id >= 11;
		UPDATE function_files SET hash = '' WHERE name IN ('functions/attachments.sql', 'functions/clock.sql')`)
	require.NoError(t, err)
	steps, err = migrate.Plan(t.Context(), database)
	require.NoError(t, err)
	written, err := filepath.Glob("sql/*.sql")
	require.NoError(t, err)
	require.Len(t, steps, len(written)-10+2, "the migrations from 0011 on, and two files of functions")
	require.Equal(t, "sql/0011_owners.sql", steps[0].Name)
	require.Contains(t, steps[0].Purpose, "Owners")
	require.Contains(t, steps[0].Locks, "bots (ACCESS EXCLUSIVE: everybody waits)")
	require.Equal(t, "sql/0013_webhooks.sql", steps[2].Name)
	require.Equal(t, "sql/0014_ratings.sql", steps[3].Name)
	require.Contains(t, steps[1].Locks, "bots (SHARE UPDATE EXCLUSIVE: nobody waits)")
	require.Contains(t, steps[5].Locks, "orders (SHARE UPDATE EXCLUSIVE: nobody waits)")
	for number, tables := range map[string][]string{"0042": {"bots", "posts", "tasks", "services"}, "0043": {"drafts", "feedbacks"}} {
		at := slices.IndexFunc(steps, func(s migrate.Step) bool { return strings.HasPrefix(s.Name, "sql/"+number) })
		for _, table := range tables {
			require.Contains(t, steps[at].Locks, table+" (ACCESS EXCLUSIVE: everybody waits)", "a statement in a block")
		}
	}
	require.Equal(t, []migrate.Step{
		{Name: "functions/attachments.sql", Locks: []string{
			"attachments (SHARE ROW EXCLUSIVE: writes wait)", "failed_uploads (SHARE ROW EXCLUSIVE: writes wait)",
		}},
		{Name: "functions/clock.sql"},
	}, steps[len(steps)-2:])
	requireCurrent(t, database, false)
}

// The plan of an empty database lists every step. Making it creates no table.
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
