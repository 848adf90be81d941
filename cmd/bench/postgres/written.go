package postgres

import (
	"context"
	"database/sql"
)

// Table counts the changes of a table's rows.
type Table struct {
	Name                       string
	Inserted, Updated, Deleted float64
	// Hot updates leave all indexes alone.
	Hot float64
	// Indexes is how many the table has.
	Indexes int
}

// Index counts the uses of an index.
type Index struct {
	Name, Table string
	// Scans is how often a plan looked into it. Constraints use their indexes without one.
	Scans float64
	// Needed says that a constraint rests on it.
	Needed bool
}

// Written holds the counts of the database so far.
type Written struct {
	Tables  map[string]Table
	Indexes map[string]Index
}

const selectTables = `
SELECT relname, n_tup_ins, n_tup_upd, n_tup_del, n_tup_hot_upd, (SELECT count(*) FROM pg_index i WHERE i.indrelid = t.relid)
FROM pg_stat_user_tables t`

const selectIndexes = `
SELECT s.indexrelname, s.relname, s.idx_scan, i.indisunique OR EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid)`

// ReadWritten reads the counts. Processes of the database that still run may hold some of theirs back.
func ReadWritten(ctx context.Context, db *sql.DB) (Written, error) {
	w := Written{Tables: make(map[string]Table), Indexes: make(map[string]Index)}
	err := each(ctx, db, selectTables, func(rows *sql.Rows) error {
		var t Table
		err := rows.Scan(&t.Name, &t.Inserted, &t.Updated, &t.Deleted, &t.Hot, &t.Indexes)
		w.Tables[t.Name] = t
		return err
	})
	if err != nil {
		return w, err
	}
	return w, each(ctx, db, selectIndexes, func(rows *sql.Rows) error {
		var i Index
		err := rows.Scan(&i.Name, &i.Table, &i.Scans, &i.Needed)
		w.Indexes[i.Name] = i
		return err
	})
}

// Since returns the counts less those of an earlier reading.
func (w Written) Since(before Written) Written {
	since := Written{Tables: make(map[string]Table), Indexes: make(map[string]Index)}
	for name, t := range w.Tables {
		b := before.Tables[name]
		t.Inserted, t.Updated, t.Deleted, t.Hot = t.Inserted-b.Inserted, t.Updated-b.Updated, t.Deleted-b.Deleted, t.Hot-b.Hot
		since.Tables[name] = t
	}
	for name, i := range w.Indexes {
		i.Scans -= before.Indexes[name].Scans
		since.Indexes[name] = i
	}
	return since
}

// each runs a query and calls scan for each row.
func each(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
