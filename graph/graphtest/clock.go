package graphtest

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"time"
)

// clock is the shift of the clock of a world's connections, in nanoseconds. A connection gets the new shift when the pool hands
// it out next, so a transaction keeps its time. stoa_now() adds the setting stoa.clock_shift.
type clock struct{ shift atomic.Int64 }

// wrap makes the connections of a connector follow the clock.
func (c *clock) wrap(inner driver.Connector) driver.Connector { return shiftedConnector{inner, c} }

type shiftedConnector struct {
	driver.Connector
	clock *clock
}

func (c shiftedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	shifted := &shiftedConn{driverConn: conn.(driverConn), clock: c.clock}
	return shifted, shifted.follow(ctx)
}

// driverConn holds the methods of a connection of lib/pq that database/sql looks for.
type driverConn interface {
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

type shiftedConn struct {
	driverConn
	clock *clock
	shift int64
}

func (c *shiftedConn) ResetSession(ctx context.Context) error {
	if err := c.driverConn.ResetSession(ctx); err != nil {
		return err
	}
	if err := c.follow(ctx); err != nil {
		return driver.ErrBadConn // database/sql ignores every other error
	}
	return nil
}

// follow sets the clock's shift in the session.
func (c *shiftedConn) follow(ctx context.Context) error {
	want := c.clock.shift.Load()
	if want == c.shift {
		return nil
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf("SET stoa.clock_shift = '%d microseconds'", time.Duration(want).Microseconds()), nil)
	c.shift = want
	return err
}
