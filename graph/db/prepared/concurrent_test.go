package prepared_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/db/prepared"
)

// Many callers on a few connections, more statements than a connection keeps,
// a schema and a clock that change meanwhile: every answer is right.
func TestConcurrentCallers(t *testing.T) {
	t.Parallel()
	const callers, calls, connections = 8, 150, 3
	var clock prepared.Clock
	w := setup(t)
	db := w.open(t, connections, prepared.CacheSize(4), prepared.WithClock(&clock))
	must(t, db, "CREATE TABLE t (n int PRIMARY KEY, s text); INSERT INTO t SELECT n, 'text ' || n FROM generate_series(0, 99) n")

	group, ctx := errgroup.WithContext(t.Context())
	due := make(chan int, calls)
	for caller := range callers {
		group.Go(func() error {
			for call := range calls {
				if caller == 0 && call%15 == 0 {
					due <- call
				}
				n := (caller*calls + call) % 100
				query := fmt.Sprintf("SELECT t.*, %d FROM t WHERE n = $1", call%6)
				rows, err := db.QueryContext(ctx, query, n)
				if err != nil {
					return err
				}
				found := 0
				for rows.Next() {
					columns, err := rows.Columns()
					if err != nil {
						return err
					}
					row := make([]any, len(columns))
					into := make([]any, len(columns))
					for i := range row {
						into[i] = &row[i]
					}
					if err := rows.Scan(into...); err != nil {
						return err
					}
					if row[0] != int64(n) || row[1] != fmt.Sprint("text ", n) || row[len(row)-1] != int64(call%6) {
						return fmt.Errorf("asked for %d by %s, got %v", n, query, row)
					}
					found++
				}
				if err := rows.Err(); err != nil || found != 1 {
					return fmt.Errorf("%d rows for %d: %w", found, n, err)
				}
			}
			if caller == 0 {
				close(due)
			}
			return nil
		})
	}
	group.Go(func() error { return change(ctx, w, &clock, due) })
	require.NoError(t, group.Wait())
	require.Equal(t, 0, db.Stats().InUse)
}

// change moves the clock and migrates whenever a call says that it is due.
func change(ctx context.Context, w *world, clock *prepared.Clock, due <-chan int) error {
	for {
		select {
		case n, ok := <-due:
			if !ok {
				return nil
			}
			clock.Set(time.Duration(n) * time.Hour)
			if _, err := w.plain.ExecContext(ctx, fmt.Sprintf("ALTER TABLE t ADD extra_%d int", n)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
