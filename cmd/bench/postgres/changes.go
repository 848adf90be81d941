package postgres

import (
	"context"
	"database/sql"
)

// Position is a place in the log of changes (WAL).
type Position string

// Here returns where the log of changes ends at this moment.
func Here(ctx context.Context, db *sql.DB) (p Position, err error) {
	err = db.QueryRowContext(ctx, "SELECT pg_current_wal_flush_lsn()").Scan(&p)
	return p, err
}

// Changes sums up a stretch of the log of changes.
type Changes struct {
	// Bytes are all of it, Images those of whole pages, which the first change of a page after a checkpoint writes.
	Bytes, Images float64
	// Commits are transactions, IndexInserts entries of indexes.
	Commits, IndexInserts float64
	// Indexes are the entries by index, the most first.
	Indexes []Entries
}

// Entries are those that an index got.
type Entries struct {
	Index string
	Count float64
}

const selectKinds = `
SELECT coalesce(sum(combined_size), 0), coalesce(sum(fpi_size), 0),
  coalesce(sum(count) FILTER (WHERE "resource_manager/record_type" IN ('Transaction/COMMIT', 'Transaction/COMMIT_PREPARED')), 0)
FROM pg_get_wal_stats($1, $2, true)`

// selectEntries counts the records that add an entry to an index. GIN writes one for each key, or for a row that it only notes.
const selectEntries = `
SELECT coalesce(c.relname, '(another database)'), count(*)
FROM pg_get_wal_records_info($1, $2) r
LEFT JOIN pg_class c ON c.relfilenode = substring(r.block_ref FROM 'rel \d+/\d+/(\d+)')::oid
WHERE r.resource_manager = 'Btree' AND r.record_type IN ('INSERT_LEAF', 'SPLIT_L', 'SPLIT_R', 'INSERT_POST')
  OR r.resource_manager = 'Gin' AND r.record_type IN ('INSERT', 'UPDATE_META_PAGE')
  OR r.resource_manager = 'Hash' AND r.record_type = 'INSERT'
GROUP BY 1 ORDER BY 2 DESC, 1`

// ReadChanges reads a stretch of the log of changes.
func ReadChanges(ctx context.Context, db *sql.DB, from, to Position) (c Changes, err error) {
	if from == to {
		return c, nil
	}
	if err := db.QueryRowContext(ctx, selectKinds, from, to).Scan(&c.Bytes, &c.Images, &c.Commits); err != nil {
		return c, err
	}
	err = each(ctx, db, selectEntries, func(rows *sql.Rows) error {
		var e Entries
		err := rows.Scan(&e.Index, &e.Count)
		c.Indexes, c.IndexInserts = append(c.Indexes, e), c.IndexInserts+e.Count
		return err
	}, from, to)
	return c, err
}
