package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// QueryUncancelled runs a statement that ends within milliseconds, since it finds what it wants by keys, and calls scan with each row
// of the result. Waiting for a connection ends with ctx. The statement itself is not cancelled when ctx is; it ends with ctx's
// deadline and with the statement_timeout of the session, like every other. What may take longer goes through DB.SQL.
//
// A change that is one statement may go through it, too, if it may run twice: a connection that breaks can hide the answer of a
// statement that was committed, and the pool then runs it again.
func (d *DB) QueryUncancelled(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it only returns the connection to the pool
	rows, err := conn.QueryContext(uncancelled{ctx}, query, args...)
	if errors.Is(err, driver.ErrBadConn) { // it died while it was idle; the pool tries others
		rows, err = d.SQL.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return err
	}
	return each(rows, scan)
}

// uncancelled has the values and the deadline of a context, but is never done. For a context that can be cancelled lib/pq and
// database/sql start two goroutines a statement: with 16 callers at once a look-up by its key takes 39 instead of 30 µs of this
// process's processor time (BenchmarkQuery). Remove when the driver cancels without goroutines.
type uncancelled struct{ context.Context } //nolint:containedctx // this is a context

// Done implements context.Context.
func (uncancelled) Done() <-chan struct{} { return nil }

// Err implements context.Context.
func (uncancelled) Err() error { return nil }

func each(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
