package db_test

import (
	"context"
	"database/sql"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// BenchmarkQuery looks an agent up by 16 callers at once, through the statement that is not cancelled and through the pool's own. cpu-ns
// is the processor time of this process for one call.
func BenchmarkQuery(b *testing.B) {
	w := graphtest.New(b)
	agent := w.Agent()
	const query = "SELECT b.id, b.handle, b.display_name FROM bots b WHERE b.id = $1"
	read := func(rows *sql.Rows) error {
		var id, handle, name string
		return rows.Scan(&id, &handle, &name)
	}
	for name, run := range map[string]func(context.Context) error{
		"uncancelled": func(ctx context.Context) error { return w.DB.QueryUncancelled(ctx, read, query, agent.ID) },
		"cancelled": func(ctx context.Context) error {
			rows, err := w.DB.SQL.QueryContext(ctx, query, agent.ID)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				if err := read(rows); err != nil {
					return err
				}
			}
			return rows.Err()
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(8) // times the two processors
			began := processorTime(b)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ctx, cancel := context.WithCancel(context.Background()) // as a request's
					require.NoError(b, run(ctx))
					cancel()
				}
			})
			b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime of this process in nanoseconds.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}
