package prepared

import (
	"context"
	"database/sql/driver"
)

// pqCopy holds the methods of the statement that lib/pq returns for a prepared COPY FROM STDIN.
type pqCopy interface {
	driver.Stmt
	CopyData(ctx context.Context, line string) (driver.Result, error)
}

// copyIn notifies its connection when the COPY is over.
type copyIn struct {
	pqCopy
	c *conn
}

// PrepareContext prepares a statement for the caller, who closes it; it is
// lib/pq's own and does not count against the cache. COPY FROM STDIN begins at
// once and keeps the connection busy until it is ended or closed.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if c.busy {
		return nil, errBusy
	}
	if c.connector.pooled && !c.inTx {
		return nil, errPreparePooled
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	st, err := c.pqConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	in, ok := st.(pqCopy)
	if !ok {
		return st, nil
	}
	c.busy = true
	return &copyIn{pqCopy: in, c: c}, nil
}

// Prepare is PrepareContext without a context.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// Exec adds a row, or ends the COPY when it has no arguments.
func (s *copyIn) Exec(args []driver.Value) (driver.Result, error) {
	res, err := s.pqCopy.Exec(args)
	if len(args) == 0 {
		s.c.busy = false
	}
	return res, err
}

func (s *copyIn) Close() error {
	err := s.pqCopy.Close()
	s.c.busy = false
	return err
}
