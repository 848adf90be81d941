package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// connector opens connections that cache their statements.
type connector struct {
	plain *pq.Connector
	size  int
	init  []string
	clock *Clock
	hook  Hook
	// pooled: see TransactionPooling. settings are then those of every transaction.
	pooled   bool
	settings string
	// neverCancels: see NeverCancel.
	neverCancels bool
	// timeout is the statement_timeout of the dsn, 0 for none in plain milliseconds.
	timeout time.Duration

	// epoch is raised when the schema has changed under a cached statement;
	// statements of an earlier epoch are prepared anew.
	epoch atomic.Uint64
}

// NewConnector reads dsn, a URL or key=value text as lib/pq takes it, and
// returns a connector for sql.OpenDB, safe for concurrent use. It does not
// connect. It refuses a dsn that lib/pq refuses, binary_parameters (ent's jsonb
// writes fail under it) and a cache of less than one statement.
func NewConnector(dsn string, opts ...Option) (driver.Connector, error) {
	cfg, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("prepared: %w", err)
	}
	if cfg.BinaryParameters {
		return nil, errors.New("prepared: binary_parameters is not supported")
	}
	c := &connector{size: DefaultCacheSize, timeout: dsnTimeout(cfg.Runtime)}
	for _, opt := range opts {
		opt(c)
	}
	if c.pooled {
		c.settings, cfg.Runtime = localSettings(cfg.Runtime), nil
	}
	if c.plain, err = pq.NewConnectorConfig(cfg); err != nil {
		return nil, fmt.Errorf("prepared: %w", err)
	}
	c.plain.Dialer(&dialer{neverCancels: c.neverCancels})
	if c.size < 1 {
		return nil, fmt.Errorf("prepared: a cache of %d statements is too small", c.size)
	}
	return c, nil
}

// Connect opens a connection, runs the statements of [OnConnect] and sets the
// clock. It implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	socket := new(dialed)
	plain, err := c.plain.Connect(context.WithValue(ctx, dialedKey{}, socket))
	if err != nil {
		return nil, err
	}
	socket.conn.start(c.timeout)
	cn, err := c.start(ctx, plain, socket.conn)
	if err != nil {
		_ = plain.Close()
		return nil, err
	}
	return cn, nil
}

func (c *connector) start(ctx context.Context, plain driver.Conn, socket *timeoutConn) (*conn, error) {
	inner, err := as[pqConn](plain)
	if err != nil {
		return nil, err
	}
	cached, err := newCache(c.size)
	if err != nil {
		return nil, err
	}
	cn := &conn{pqConn: inner, connector: c, socket: socket, cached: cached}
	cn.socket.end, _ = ctx.Deadline()
	for _, statement := range c.init {
		if _, err := inner.ExecContext(ctx, statement, nil); err != nil {
			return nil, err
		}
	}
	return cn, cn.setClock(ctx)
}

// Driver returns lib/pq's driver.
func (c *connector) Driver() driver.Driver { return c.plain.Driver() }
