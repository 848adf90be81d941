package prepared_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/platform/db/prepared"
)

// Many callers on a few connections, more statements than a connection keeps,
// a schema and a clock that change meanwhile: every answer is right. A call
// that three migrations in a row hit between its preparation and its execution
// may say that it is stale, and is then made again; nothing else may go wrong.
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
			if caller == 0 {
				defer close(due)
			}
			for call := range calls {
				if caller == 0 && call%15 == 0 {
					due <- call
				}
				err := lookAt(ctx, db, (caller*calls+call)%100, call%6)
				for prepared.Stale(err) {
					err = lookAt(ctx, db, (caller*calls+call)%100, call%6)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error { return change(ctx, w, &clock, due) })
	require.NoError(t, group.Wait())
	require.Equal(t, 0, db.Stats().InUse)
}

// lookAt reads row n by one of several statements, which differ in mark.
func lookAt(ctx context.Context, db *sql.DB, n, mark int) error {
	query := fmt.Sprintf("SELECT t.*, %d FROM t WHERE n = $1", mark)
	rows, err := db.QueryContext(ctx, query, n)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	found := 0
	for rows.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if row[0] != int64(n) || row[1] != fmt.Sprint("text ", n) || row[len(row)-1] != int64(mark) {
			return fmt.Errorf("asked for %d by %s, got %v", n, query, row)
		}
		found++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if found != 1 {
		return fmt.Errorf("%d rows for %d", found, n)
	}
	return nil
}

// change moves the clock and migrates whenever a call says that it is due.
func change(ctx context.Context, w *world, clock *prepared.Clock, due <-chan int) error {
	for n := range due {
		clock.Set(time.Duration(n) * time.Hour)
		if _, err := w.plain.ExecContext(ctx, fmt.Sprintf("ALTER TABLE t ADD extra_%d int", n)); err != nil {
			return err
		}
	}
	return nil
}
