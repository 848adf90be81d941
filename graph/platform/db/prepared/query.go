package prepared

import (
	"context"
	"database/sql/driver"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// QueryContext runs query, cached or not, and returns its rows. The connection is
// busy until they are closed.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (read driver.Rows, err error) {
	if c.busy {
		return nil, errBusy
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer func() { c.noteReadOnly(err) }()
	if c.connector.hook != nil {
		var done func(error)
		ctx, done = c.connector.hook(ctx, query)
		defer func() { done(err) }()
	}
	if c.connector.pooled && !c.inTx {
		return c.queryAlone(ctx, query, args)
	}
	if c.connector.pooled || !cacheable(query, len(args)) {
		rows, err := c.pqConn.QueryContext(ctx, query, args)
		return result(c.reading(ctx, rows, err))
	}
	rows, err := run(ctx, c, query, func(st pqStmt) (driver.Rows, error) {
		return st.QueryContext(ctx, args)
	})
	return result(c.reading(ctx, rows, err))
}

// result makes a result of rows, or nil of nil.
func result(r *rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ExecContext runs query, cached or not, to its end.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (executed driver.Result, err error) {
	if c.busy {
		return nil, errBusy
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer func() { c.noteReadOnly(err) }()
	if c.connector.hook != nil {
		var done func(error)
		ctx, done = c.connector.hook(ctx, query)
		defer func() { done(err) }()
	}
	if c.connector.pooled && !c.inTx {
		return c.execAlone(ctx, query, args)
	}
	if c.connector.pooled || !cacheable(query, len(args)) {
		return c.pqConn.ExecContext(ctx, query, args)
	}
	return run(ctx, c, query, func(st pqStmt) (driver.Result, error) {
		return st.ExecContext(ctx, args)
	})
}

// attempts bounds how often a call is made while the schema changes under it.
const attempts = 3

// run calls do with the cached statement for query. If that is stale it is
// dropped, and outside a transaction do gets a new one.
func run[T any](ctx context.Context, c *conn, query string, do func(pqStmt) (T, error)) (T, error) {
	var none T
	var stale error
	for range attempts {
		st, reused, err := c.statement(ctx, query)
		if stale != nil && pq.As(err, pqerror.InFailedSQLTransaction) != nil {
			// A BEGIN written out by the caller, so inTx did not know.
			return none, stale
		}
		if err != nil {
			return none, err
		}
		out, err := do(st)
		c.taint(ctx.Done())
		if err == nil {
			return out, nil
		}
		sign, ok := signOf(err, reused)
		if !ok {
			return none, err
		}
		if sign.schema {
			c.connector.epoch.Add(1)
		}
		if err := c.cached.drop(query); err != nil {
			return none, err
		}
		stale = &staleError{err}
		if c.inTx {
			return none, stale
		}
	}
	return none, stale
}
