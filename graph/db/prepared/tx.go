package prepared

import (
	"context"
	"database/sql/driver"
)

// tx tells its connection when the transaction is over.
type tx struct {
	driver.Tx
	c *conn
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
	return tx{Tx: inner, c: c}, nil
}

// Begin is BeginTx with the server's defaults.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (t tx) Commit() error {
	t.c.inTx = false
	return t.Tx.Commit()
}

func (t tx) Rollback() error {
	t.c.inTx = false
	return t.Tx.Rollback()
}
