package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// TransactionPooling makes connections that a pooler may join with another connection of the database for each transaction. Nothing
// is prepared under a name, every statement is a transaction or part of one, and the run-time parameters of the dsn are set in each,
// since the pooler would refuse or forget them. A statement outside a transaction takes four round trips instead of one. A Clock
// cannot be used with it.
func TransactionPooling() Option {
	return func(c *connector) { c.pooled = true }
}

var (
	errPreparePooled = errors.New("prepared: a statement cannot be prepared behind a pooler in transaction mode")
	errCommitLost    = fmt.Errorf("prepared: the answer to COMMIT was lost: %w", io.ErrUnexpectedEOF)
)

// localSettings are the statements that set parameters until the transaction ends, to follow BEGIN.
func localSettings(parameters map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		fmt.Fprintf(&text, "; SET LOCAL %s = %s", pq.QuoteIdentifier(name), pq.QuoteLiteral(parameters[name]))
	}
	return text.String()
}

// queryAlone runs a query in its own transaction, which is committed when the last row has been read.
func (c *conn) queryAlone(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.beginAlone(ctx); err != nil {
		return nil, err
	}
	result, err := c.pqConn.QueryContext(ctx, query, args)
	read, err := c.reading(ctx, result, err)
	if err != nil {
		return nil, c.undoAlone(err)
	}
	return &rowsAlone{rows: read}, nil
}

// execAlone runs a statement in its own transaction.
func (c *conn) execAlone(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.beginAlone(ctx); err != nil {
		return nil, err
	}
	result, err := c.pqConn.ExecContext(ctx, query, args)
	if err != nil {
		return nil, c.undoAlone(err)
	}
	return result, c.commitAlone()
}

func (c *conn) beginAlone(ctx context.Context) error {
	_, err := c.pqConn.ExecContext(ctx, "BEGIN"+c.local, nil)
	return err
}

// commitAlone does not return driver.ErrBadConn, on which database/sql would run the statement again: it may be committed.
func (c *conn) commitAlone() error {
	_, err := c.pqConn.ExecContext(context.Background(), "COMMIT", nil)
	if errors.Is(err, driver.ErrBadConn) {
		c.tainted = true
		return errCommitLost
	}
	return err
}

// undoAlone ends the transaction of a statement that failed, and returns its error.
func (c *conn) undoAlone(failed error) error {
	if _, err := c.pqConn.ExecContext(context.Background(), "ROLLBACK", nil); err != nil {
		c.tainted = true
	}
	return failed
}

// rowsAlone are rows that end their transaction: an error of its COMMIT is returned at the end of the rows.
type rowsAlone struct {
	*rows
	closed bool
}

// Next implements driver.Rows.
func (r *rowsAlone) Next(into []driver.Value) error {
	if r.closed {
		return io.EOF
	}
	err := r.rows.Next(into)
	if err == io.EOF && !r.HasNextResultSet() { //nolint:errorlint // it is not wrapped
		if failed := r.Close(); failed != nil {
			return failed
		}
	}
	return err
}

// Close implements driver.Rows.
func (r *rowsAlone) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if err := r.rows.Close(); err != nil {
		return r.c.undoAlone(err)
	}
	return r.c.commitAlone()
}
