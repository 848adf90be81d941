package prepared

import (
	"context"
	"database/sql/driver"
)

// pqRows holds the methods of lib/pq's rows that database/sql looks for.
type pqRows interface {
	driver.RowsNextResultSet
	driver.RowsColumnTypeScanType
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypePrecisionScale
}

// rows notifies its connection when the result has been read.
type rows struct {
	pqRows
	c    *conn
	done <-chan struct{}
}

// reading marks the connection busy with what a query returned.
func (c *conn) reading(ctx context.Context, result driver.Rows, err error) (*rows, error) {
	if err != nil {
		return nil, err
	}
	inner, err := as[pqRows](result)
	if err != nil {
		_ = result.Close()
		return nil, err
	}
	c.busy = true
	return &rows{pqRows: inner, c: c, done: ctx.Done()}, nil
}

func (r *rows) Close() error {
	err := r.pqRows.Close()
	r.c.busy = false
	r.c.taint(r.done)
	return err
}
