package prepared

import (
	"context"
	"database/sql/driver"
)

// tx tells its connection when the transaction is over.
type tx struct {
	driver.Tx
	c *conn
	// committing tells who watches that the commit begins; nil for nobody.
	committing func() func(error)
}

// BeginTx begins a transaction with lib/pq's isolation levels and access modes.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.busy {
		return nil, errBusy
	}
	inner, err := c.pqConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	begun := tx{Tx: inner, c: c}
	if watch := c.connector.watch; watch != nil {
		begun.committing = func() func(error) {
			_, done := watch(ctx, "COMMIT")
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
	t.c.inTx = false
	if t.committing != nil {
		done := t.committing()
		defer func() { done(err) }()
	}
	return t.Tx.Commit()
}

func (t tx) Rollback() error {
	t.c.inTx = false
	return t.Tx.Rollback()
}
