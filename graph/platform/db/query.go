package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Querier runs statements: DB.SQL outside a transaction, Tx.SQL inside one.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// IDs passes ids as one argument of type uuid[].
func IDs(ids []uuid.UUID) driver.Valuer {
	texts := make(pq.StringArray, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// QueryUncancelled runs a statement that takes milliseconds, such as a look-up by keys, and calls scan with each row of the result.
// Waiting for a connection ends with ctx. The statement is not cancelled with ctx; it ends with ctx's deadline and with the
// statement_timeout of the session, like every other. Statements that may take longer go through DB.SQL.
//
// It may also run a change that is one statement, if that may run twice: when a connection breaks after the commit, the pool runs the
// statement again.
func (d *DB) QueryUncancelled(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it only returns the connection to the pool
	rows, err := conn.QueryContext(uncancelled{ctx}, query, args...)
	if errors.Is(err, driver.ErrBadConn) { // the connection broke while it was idle; the pool tries others
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

// ExecBatches repeats a statement, with batch as its last argument, until it changes fewer rows than that, and returns how many rows were
// changed. Each run has its own transaction, so a sweep over any number of rows does not exceed statement_timeout, and stopping
// it half-way loses nothing.
func (d *DB) ExecBatches(ctx context.Context, query string, batch int64, args ...any) (int64, error) {
	args = append(args, batch)
	for changed := int64(0); ; {
		result, err := d.SQL.ExecContext(ctx, query, args...)
		if err != nil {
			return changed, err
		}
		n, err := result.RowsAffected()
		changed += n
		if err != nil || n < batch {
			return changed, err
		}
	}
}
