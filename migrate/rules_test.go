package migrate_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/migrate"
)

// firstInUse is the first migration of a database that is in use. Earlier ones make the tables of an empty database.
const firstInUse = 9

// functionsOf is the migration that was the newest when the functions were last changed, and their hash.
var functionsOf = struct{ migration, hash string }{"0061", "382fc0ee8f2b3c59"}

// Servers of an older version leave the functions of a newer one alone. They know it by the number of its newest migration.
func TestChangedFunctionsHaveANumber(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	functions := texts(t, "functions/*.sql")
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		sum.Write([]byte(functions[name]))
	}
	hash := hex.EncodeToString(sum.Sum(nil))[:16]
	require.Equal(t, functionsOf.hash, hash, `the functions have changed: where migration %s is released already, write the next one
(it may be empty); then note its number and %s in functionsOf`, functionsOf.migration, hash)
	names, err := filepath.Glob("sql/" + functionsOf.migration + "_*.sql")
	require.NoError(t, err)
	require.Len(t, names, 1)
}

// blocking maps statements that block a table for as long as it is large to their replacement.
var blocking = []struct {
	statement *regexp.Regexp
	instead   string
}{
	{regexp.MustCompile(`(?i)\bCREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)`), "CREATE INDEX CONCURRENTLY, in a file with NO TRANSACTION"},
	{regexp.MustCompile(`\bDROP INDEX (?:IF EXISTS )?([a-z]\w*)`), "DROP INDEX CONCURRENTLY"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bADD CONSTRAINT[^;]*\)\s*[,;]`), "NOT VALID, and VALIDATE CONSTRAINT in the next file"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bSET NOT NULL`), "a check that is NOT VALID, and VALIDATE CONSTRAINT in the next file"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bTYPE\b`), "a new column"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\b(?:DROP COLUMN|RENAME)\b`), "nothing, until no version that reads it runs any more"},
	{regexp.MustCompile(`(?im)^(?:UPDATE|DELETE FROM) (\w+)`), "batches, each committed, in a file with NO TRANSACTION"},
	{regexp.MustCompile(`(?i)\bLOCK TABLE (\w+)`), "nothing"},
}

var createTable = regexp.MustCompile(`(?i)\bCREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)`)

// A migration neither blocks a table for its users nor waits long for it.
func TestMigrationsOfTablesInUse(t *testing.T) {
	t.Parallel()
	for name, text := range texts(t, "sql/*.sql") {
		number, err := goose.NumericComponent(name)
		require.NoError(t, err)
		if number < firstInUse {
			continue
		}
		up, _, _ := strings.Cut(text, "-- +goose Down")
		if !strings.Contains(up, "NO TRANSACTION") {
			require.Contains(t, up, "SET LOCAL lock_timeout = '1s';", name)
		}
		made := map[string]bool{}
		for _, table := range createTable.FindAllStringSubmatch(up, -1) {
			made[table[1]] = true
		}
		for _, b := range blocking {
			for _, found := range b.statement.FindAllStringSubmatch(up, -1) {
				require.True(t, made[found[1]], "%s: %s\nInstead: %s.", name, found[0], b.instead)
			}
		}
	}
}

// texts are the files of a pattern by name.
func texts(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	all := make(map[string]string, len(names))
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}

// use are the statements of clients meanwhile, on one row of each table.
var use = map[string]string{
	"read-bots":   "SELECT FROM bots WHERE id = (SELECT id FROM bots ORDER BY id LIMIT 1)",
	"write-bots":  "UPDATE bots SET last_active_at = now() WHERE id = (SELECT id FROM bots ORDER BY id LIMIT 1)",
	"read-posts":  "SELECT FROM posts WHERE id = (SELECT id FROM posts ORDER BY id LIMIT 1)",
	"write-posts": "UPDATE posts SET updated_at = now() WHERE id = (SELECT id FROM posts ORDER BY id LIMIT 1)",
}

// The longest time that a client waits while a database with a million agents and posts is migrated from the first used schema.
func BenchmarkMigrationInUse(b *testing.B) {
	rows := 1_000_000
	if testing.Short() {
		rows = 20_000
	}
	database, err := sql.Open("postgres", graphtest.NewDatabase(b))
	require.NoError(b, err)
	defer database.Close()
	for b.Loop() {
		b.StopTimer()
		fillFirstSchema(b, database, rows)
		b.StartTimer()
		waits := useMeanwhile(b, database, func() { require.NoError(b, migrate.Up(b.Context(), database)) })
		for name, longest := range waits {
			b.ReportMetric(longest.Seconds()*1000, "ms-"+name)
		}
	}
}

func fillFirstSchema(b *testing.B, database *sql.DB, rows int) {
	b.Helper()
	_, err := database.ExecContext(b.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	require.NoError(b, err)
	provider, err := goose.NewProvider(goose.DialectPostgres, database, os.DirFS("sql"))
	require.NoError(b, err)
	_, err = provider.UpTo(b.Context(), firstInUse-1)
	require.NoError(b, err)
	_, err = database.ExecContext(b.Context(), fmt.Sprintf(`
		INSERT INTO bots (id, created_at, updated_at, handle, display_name, bio, encryption_public_key, last_active_at)
		SELECT gen_random_uuid(), now(), now(), 'agent_' || n, 'Agent ' || n, '', decode(lpad(to_hex(n), 64, '0'), 'hex'), now()
		FROM generate_series(1, %d) AS n;
		INSERT INTO posts (id, created_at, updated_at, kind, visibility, text, author_id)
		SELECT gen_random_uuid(), now(), now(), 'portfolio', 'public', 'text', id FROM bots;
		ANALYZE`, rows))
	require.NoError(b, err)
}

// useMeanwhile returns the longest time that each kind of use took while do ran.
func useMeanwhile(b *testing.B, database *sql.DB, do func()) map[string]time.Duration {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		failed  atomic.Pointer[error]
	)
	longest := make(map[string]time.Duration)
	for name, statement := range use {
		running.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if _, err := database.ExecContext(context.WithoutCancel(ctx), statement); err != nil {
					failed.Store(&err)
				}
				mu.Lock()
				longest[name] = max(longest[name], time.Since(began))
				mu.Unlock()
			}
		})
	}
	do()
	stop()
	running.Wait()
	require.Nil(b, failed.Load())
	return longest
}
