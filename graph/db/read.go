package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// Read runs a statement that ends within milliseconds, since it finds what it wants by keys, and calls scan with each row of the
// result. The wait for a connection ends with ctx, the statement does not: to be ready to cancel one takes two goroutines and a
// tenth of the time of a short request, and word of it would reach PostgreSQL too late. What may take longer goes through DB.SQL.
//
// A change that is one statement may go through it, too, if it may run twice: a connection that breaks can hide the answer of a
// statement that was committed, and the pool then runs it again.
func (d *DB) Read(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it only returns the connection to the pool
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	if errors.Is(err, driver.ErrBadConn) { // it died while it was idle; the pool tries others
		rows, err = d.SQL.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return err
	}
	return each(rows, scan)
}

func each(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
