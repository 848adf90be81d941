package world

import (
	"cmp"
	"context"
	"database/sql"
	"strings"
	"sync"
)

// dropIndexes drops all indexes of the seeded tables that no constraint needs, and returns how to make them again, the costly ones
// first.
func dropIndexes(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
		WHERE i.indrelid = ANY ('{bots,tokens,accounts,ledger_entries,contacts,messages,message_guards,orders,order_events,posts,feed}'::regclass[])
		AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
		ORDER BY pg_get_indexdef(i.indexrelid) LIKE '%stoa_qgrams%' DESC, pg_get_indexdef(i.indexrelid) LIKE '%gin%' DESC`)
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

// builders make indexes at the same time.
const builders = 2

// makeIndexes makes indexes again.
func (w *World) makeIndexes(ctx context.Context, definitions []string) error {
	var (
		group sync.WaitGroup
		next  = make(chan string, len(definitions))
		errs  [builders]error
	)
	for _, definition := range definitions {
		next <- definition
	}
	close(next)
	for i := range errs {
		group.Go(func() { errs[i] = w.build(ctx, next) })
	}
	group.Wait()
	return cmp.Or(errs[:]...)
}

// build makes one index after the other on a connection of its own.
func (w *World) build(ctx context.Context, definitions <-chan string) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to its pool
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
