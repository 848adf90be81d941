package keylog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/keylog"
)

// The cost of a registration with and without the key log: the only difference is the queue row that a trigger inserts. wal-B/op
// counts the bytes that PostgreSQL writes for it, which a busy machine does not change.
func BenchmarkRegister(b *testing.B) {
	for name, trigger := range map[string]string{"log": "ENABLE", "none": "DISABLE"} {
		b.Run(name, func(b *testing.B) {
			w := graphtest.New(b)
			w.Exec("ALTER TABLE bots " + trigger + " TRIGGER bots_key_log")
			for range 100 { // pages are written whole at their first change
				w.Agent()
			}
			before := w.Count("SELECT pg_current_wal_insert_lsn() - '0/0'")
			agents := 0
			for b.Loop() {
				w.Agent()
				agents++
			}
			b.ReportMetric(float64(w.Count("SELECT pg_current_wal_insert_lsn() - '0/0'")-before)/float64(agents), "wal-B/op")
			require.Equal(b, trigger == "ENABLE", w.Count("SELECT count(*) FROM log_queue") > 0)
		})
	}
}

// A log with a million entries: a batch that is appended, a proof, a checkpoint and tiles. With -short it has 20,000.
func BenchmarkLargeLog(b *testing.B) {
	size := 1_000_000
	if testing.Short() {
		size = 20_000
	}
	w := graphtest.New(b, func(c *graph.Config) { c.Origin = "https://" + host })
	queue := func(entries int) {
		w.Exec(`INSERT INTO log_queue (type, label, commitment)
			SELECT 3, sha256(''), sha256(convert_to(n::text, 'UTF8')) FROM generate_series(1, $1) n`, entries)
	}
	ctx := b.Context()
	require.NoError(b, w.KeyLog.Begin(ctx))
	queue(size)
	for appended := int64(1); appended > 0; {
		var err error
		appended, err = w.KeyLog.Sequence(ctx)
		require.NoError(b, err)
	}
	w.Exec("VACUUM ANALYZE log_leaves, log_roots, log_queue")
	_, err := w.KeyLog.Checkpoint(ctx, 1)
	require.NoError(b, err)
	var at int64
	next := func() int64 { // anywhere
		at = (at*6364136223846793005 + 1442695040888963407) & (1<<62 - 1)
		return at % int64(size)
	}
	for name, do := range map[string]func() error{
		"checkpoint": func() error { _, err := w.KeyLog.Checkpoint(ctx, 1); return err },
		"proof":      func() error { _, err := w.KeyLog.Include(ctx, 1, next()); return err },
		"consistent": func() error { _, err := w.KeyLog.Prove(ctx, 1, 1+next()); return err },
		"hashes": func() error {
			_, err := w.KeyLog.Tile(ctx, keylog.Tile{Epoch: 1, N: next() / 256, Width: 200})
			return err
		},
		"entries": func() error {
			_, err := w.KeyLog.Tile(ctx, keylog.Tile{Epoch: 1, Entries: true, N: next() / 256, Width: 200})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, do())
			}
		})
	}
	b.Run("append-1000", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			queue(1000)
			b.StartTimer()
			appended, err := w.KeyLog.Sequence(ctx)
			require.NoError(b, err)
			require.EqualValues(b, 1000, appended)
		}
	})
}
