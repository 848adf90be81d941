package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// errBusy is lib/pq's answer too when a call comes before the last result was
// read or closed; lib/pq cannot give it for statements prepared under a name.
var errBusy = errors.New("prepared: a result or COPY on this connection is still being read")

// pqConn holds the methods of a lib/pq connection that database/sql looks for.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

var _ pqConn = (*conn)(nil)

// conn is a lib/pq connection with its cached statements. CheckNamedValue is
// lib/pq's own.
type conn struct {
	pqConn
	connector *connector
	socket    *timeoutConn
	cached    *cache
	shift     time.Duration // of the clock, as the session has it
	inTx      bool          // between BeginTx and the end of that transaction
	busy      bool          // a result or a COPY is being read
	tainted   bool          // a statement was cancelled here
	local     string        // settings of the next transaction, with TransactionPooling
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	if c.busy {
		return errBusy
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	return c.pqConn.Ping(ctx)
}

// Close says goodbye to the server and closes the connection. The context of an earlier call does not bound it.
func (c *conn) Close() error {
	c.socket.end = time.Time{}
	return c.pqConn.Close()
}

// ResetSession prepares the connection for its next user. It returns
// driver.ErrBadConn when the clock cannot be set, since database/sql ignores
// every other error and would hand out a session with the wrong time.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.tainted {
		return driver.ErrBadConn
	}
	c.socket.end, _ = ctx.Deadline()
	if err := c.pqConn.ResetSession(ctx); err != nil {
		return err
	}
	if err := c.setClock(ctx); err != nil {
		return driver.ErrBadConn
	}
	return nil
}

// IsValid reports whether the pool may keep the connection.
func (c *conn) IsValid() bool { return !c.tainted && c.pqConn.IsValid() }

// setClock gives the session the shift that the connector's clock wants.
func (c *conn) setClock(ctx context.Context) error {
	if c.connector.clock == nil {
		return nil
	}
	want := c.connector.clock.Shift()
	if want == c.shift {
		return nil
	}
	arg := driver.NamedValue{Ordinal: 1, Value: interval(want)}
	if _, err := c.pqConn.ExecContext(ctx, setClock, []driver.NamedValue{arg}); err != nil {
		return err
	}
	c.shift = want
	return nil
}

// taint takes the connection out of the pool if done is closed: the cancel
// request that lib/pq then sent may still strike whatever runs here next.
func (c *conn) taint(done <-chan struct{}) {
	select {
	case <-done:
		c.tainted = true
	default:
	}
}

// noteReadOnly takes the connection out of the pool where a write was refused because the server has become a standby: the primary
// is elsewhere, and the pool finds it with a new connection.
func (c *conn) noteReadOnly(err error) {
	if pq.As(err, pqerror.ReadOnlySQLTransaction) != nil {
		c.tainted = true
	}
}

// as asserts that lib/pq's v offers T.
func as[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("prepared: lib/pq's %T lacks methods this package needs", v)
	}
	return t, nil
}
