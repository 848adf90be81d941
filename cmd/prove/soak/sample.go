package soak

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/prove/audit"
	"stoa/cmd/prove/testbed"
)

// interval is the time between two samples.
const interval = 15 * time.Second

// sample holds the figures of a moment, by the name of a measure, and rows and bytes, by the name of a table.
type sample struct {
	at     time.Duration
	values map[string]float64
	tables map[string]table
}

// table is a table as the database estimates it. changes counts the rows that were changed or deleted so far.
type table struct{ live, dead, bytes, changes float64 }

const (
	eventsWaiting = "events without an ack"
	jobsWaiting   = "jobs to be done"
	storedFiles   = "files in the store"
)

// counts are queries for rows that package audit does not count.
var counts = map[string]string{
	eventsWaiting: "SELECT count(*) FROM events",
	jobsWaiting:   "SELECT count(*) FROM river_job WHERE finalized_at IS NULL",
}

const tables = `SELECT relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid), n_tup_upd + n_tup_del FROM pg_stat_user_tables`

// take takes a sample.
func take(ctx context.Context, bed *testbed.Bed, begun time.Time) (sample, error) {
	s := sample{at: time.Since(begun), values: make(map[string]float64), tables: make(map[string]table)}
	held, err := audit.Holdings(ctx, bed)
	if err != nil {
		return s, err
	}
	maps.Copy(s.values, held)
	for name, statement := range counts {
		if s.values[name], err = count(ctx, bed.DB, statement); err != nil {
			return s, err
		}
	}
	for _, server := range bed.Servers {
		if err := takeServer(ctx, server, s.values); err != nil {
			return s, err
		}
	}
	if s.values[storedFiles], err = countFiles(filepath.Join(bed.Data(), "files")); err != nil {
		return s, err
	}
	return s, takeTables(ctx, bed.DB, s.tables)
}

func count(ctx context.Context, db *sql.DB, statement string) (n float64, err error) {
	if err = db.QueryRowContext(ctx, statement).Scan(&n); err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return n, err
}

// takeServer adds what one server holds.
func takeServer(ctx context.Context, s *testbed.Server, values map[string]float64) error {
	memory, err := machine.MemoryOf(s.PID())
	if err != nil {
		return err
	}
	metrics, err := s.Metrics(ctx)
	if err != nil {
		return err
	}
	for name, value := range map[string]float64{
		anonymousMemory: float64(memory.Anonymous), residentMemory: float64(memory.Resident),
		goroutines: metrics["go_goroutines"], descriptors: metrics["process_open_fds"],
	} {
		values[name+" of "+s.Name] = value
	}
	return nil
}

func countFiles(folder string) (n float64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

func takeTables(ctx context.Context, db *sql.DB, into map[string]table) error {
	rows, err := db.QueryContext(ctx, tables)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			name string
			t    table
		)
		if err := rows.Scan(&name, &t.live, &t.dead, &t.bytes, &t.changes); err != nil {
			return err
		}
		into[name] = t
	}
	return rows.Err()
}
