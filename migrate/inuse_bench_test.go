package migrate_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/migrate"
)

// use are the statements of clients meanwhile, on one row of each table.
var use = map[string]string{
	"read-bots":   "SELECT FROM bots WHERE id = (SELECT id FROM bots ORDER BY id LIMIT 1)",
	"write-bots":  "UPDATE bots SET last_active_at = now() WHERE id = (SELECT id FROM bots ORDER BY id LIMIT 1)",
	"read-posts":  "SELECT FROM posts WHERE id = (SELECT id FROM posts ORDER BY id LIMIT 1)",
	"write-posts": "UPDATE posts SET updated_at = now() WHERE id = (SELECT id FROM posts ORDER BY id LIMIT 1)",
}

// The longest that a client waits while a database with a million agents and posts is migrated from the first schema that was in use.
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
