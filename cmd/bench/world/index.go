package world

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"sync"

	"github.com/lib/pq"
)

// dropIndexes drops the indexes of tables that no constraint needs. It returns the statements that create them as they were, the most
// expensive first. Without the settings of their statistics each ANALYZE would read 30,000 texts.
func dropIndexes(ctx context.Context, tx *sql.Tx, tables ...string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) || coalesce((
			SELECT string_agg(format('; ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', i.indexrelid::regclass, a.attnum, a.attstattarget), '')
			FROM pg_attribute a WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0), '') AS definition
		FROM pg_index i
		WHERE i.indrelid = ANY ($1::regclass[])
		AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
		ORDER BY pg_get_indexdef(i.indexrelid) LIKE '%gin%' DESC`, pq.Array(tables))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names, definitions []string
	for rows.Next() {
		var name, definition string
		if err := rows.Scan(&name, &definition); err != nil {
			return nil, err
		}
		names, definitions = append(names, name), append(definitions, definition)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, "DROP INDEX "+strings.Join(names, ", "))
	return definitions, err
}

// indexBuilders is the number of indexes that are built at the same time.
const indexBuilders = 2

// createIndexes creates indexes by their definitions.
func (w *World) createIndexes(ctx context.Context, definitions []string) error {
	var (
		group sync.WaitGroup
		next  = make(chan string, len(definitions))
		errs  [indexBuilders]error
	)
	for _, definition := range definitions {
		next <- definition
	}
	close(next)
	for i := range errs {
		group.Go(func() { errs[i] = w.createEach(ctx, next) })
	}
	group.Wait()
	return cmp.Or(errs[:]...)
}

// createEach creates one index after the other on its own connection.
func (w *World) createEach(ctx context.Context, definitions <-chan string) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it returns to the pool
	if _, err := conn.ExecContext(ctx, "SET maintenance_work_mem = '1GB'"); err != nil {
		return err
	}
	for definition := range definitions {
		if _, err := conn.ExecContext(ctx, definition); err != nil {
			return err
		}
	}
	return nil
}
