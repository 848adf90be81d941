package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"time"
)

// tx notifies its connection when the transaction is over.
type tx struct {
	driver.Tx
	c *conn
	// end is when the transaction's context ends, zero for never.
	end time.Time
	// committing calls the hook with the commit; nil without one.
	committing func() func(error)
}

// BeginTx begins a transaction with lib/pq's isolation levels and access modes.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.busy {
		return nil, errBusy
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	inner, err := c.pqConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	if c.local != "" {
		if _, err := c.pqConn.ExecContext(ctx, strings.TrimPrefix(c.local, "; "), nil); err != nil {
			return nil, errors.Join(err, inner.Rollback())
		}
	}
	c.inTx = true
	begun := tx{Tx: inner, c: c, end: c.socket.end}
	if hook := c.connector.hook; hook != nil {
		begun.committing = func() func(error) {
			_, done := hook(ctx, "COMMIT")
			return done
		}
	}
	return begun, nil
}

// Begin is BeginTx with the server's defaults.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (t tx) Commit() (err error) {
	t.over()
	if t.committing != nil {
		done := t.committing()
		defer func() { done(err) }()
	}
	return t.Tx.Commit()
}

func (t tx) Rollback() error {
	t.over()
	return t.Tx.Rollback()
}

// over ends the transaction for its connection. What is still to be sent is bounded by the transaction's own context.
func (t tx) over() {
	t.c.inTx, t.c.socket.end = false, t.end
}
