package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// newConnectionPeriod is how long one success lasts, newConnectionRetry one failure.
	newConnectionPeriod = time.Minute
	newConnectionRetry  = time.Second
)

// ErrRefusesConnections is in the error of NewConnections.Check if the database refuses a new connection.
var ErrRefusesConnections = errors.New("db: the database refuses new connections")

// NewConnections checks whether the database still accepts connections. A pool keeps its connections for long, so a changed password, a
// key file that cannot be read any more, or a limit of connections would show only when they end, all at once. It is safe for concurrent
// use.
type NewConnections struct {
	DB *DB

	mu    sync.Mutex
	tried time.Time
	err   error
}

// Check opens and closes a connection, at most once a minute while that works and once a second while it does not. In between it returns
// what it found last.
func (n *NewConnections) Check(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	period := newConnectionPeriod
	if n.err != nil {
		period = newConnectionRetry
	}
	if !n.tried.IsZero() && time.Since(n.tried) < period {
		return n.err
	}
	conn, err := n.DB.connector.Connect(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() // the caller gave up, which proves nothing about the database
	}
	n.tried, n.err = time.Now(), nil
	if err != nil {
		n.err = fmt.Errorf("%w: %w", ErrRefusesConnections, err)
		return n.err
	}
	return conn.Close()
}
