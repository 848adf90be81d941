// Package db is the access to one PostgreSQL database.
//
// Reads go through DB.Ent or DB.SQL; every change is one call of DB.Tx, or one statement of DB.SQL, with state, money, stored result,
// outbox rows and jobs together. Nothing slow happens inside a transaction: no network, no files, no decoding.
//
// Locks are taken in the orders contact → order → accounts by ascending id, and post → author → files. Serialisation failures, deadlocks
// and stale prepared statements before COMMIT are retried here. Once COMMIT was sent nothing is retried, because its outcome is unknown:
// the caller gets service_unavailable and may repeat the request under the same idempotency id.
//
// Statements are kept prepared (Runner). Deadlines, expiries and windows go by the time of the database, stoa_now() in SQL and Tx.Now in Go.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"stoa/ent"
)

// DB is a pool of connections. It is safe for concurrent use.
type DB struct {
	// SQL runs hand-tuned statements outside a transaction.
	SQL *Runner
	// Ent runs generated queries outside a transaction.
	Ent *ent.Client
	// Direct leads past a pooler, for a library whose statements one in transaction mode would take apart.
	Direct *sql.DB

	connector driver.Connector
}

// Options of Open. The server uses the zero value.
type Options struct {
	// Connections is how many may be open besides those of patient statements; 0 means 24.
	Connections int
	// StatementTimeout bounds each statement, instead of the URL or the settings of the session; 0 leaves those.
	StatementTimeout time.Duration
	// Silence is how long an answer is waited for if that is longer: a pooler may ignore StatementTimeout.
	Silence time.Duration
	// DirectURL leads past a pooler, for DB.Direct and for patient statements: a pooler may ignore or forget the settings of their session.
	// Empty is the URL.
	DirectURL string
	// Standby is for a URL that leads to a hot standby, which is only read.
	Standby bool
	// Wrap is for tests, which move the clock of every connection.
	Wrap func(driver.Connector) driver.Connector
}

const (
	defaultConnections = 24
	directConnections  = 4
	connectionIdleTime = 5 * time.Minute
	// connectionLifetime bounds how long a kept statement can outlive a change of a column's type that PostgreSQL does not report.
	connectionLifetime = time.Hour
)

// Open makes the pool. It connects lazily: a database that is away shows at the first statement, as it does later on.
func Open(url string, options Options) (*DB, error) {
	size := cmp.Or(options.Connections, defaultConnections)
	connector, err := newConnector(url, options.StatementTimeout, false, options)
	if err != nil {
		return nil, err
	}
	direct := cmp.Or(options.DirectURL, url)
	patient, err := newConnector(direct, MaintenanceTimeout, true, options)
	if err != nil {
		return nil, err
	}
	runner := &Runner{pools: &pools{
		Pool: open(connector, size, connectionIdleTime), slow: open(patient, directConnections, time.Second), kept: make(map[string]*sql.Stmt),
	}}
	driver := entDriver{entsql.Conn{ExecQuerier: runner}, runner}
	d := &DB{SQL: runner, Ent: ent.NewClient(ent.Driver(driver)), Direct: runner.Pool, connector: connector}
	if direct != url {
		past, err := newConnector(direct, options.StatementTimeout, false, options)
		if err != nil {
			return nil, err
		}
		d.Direct = open(past, directConnections, connectionIdleTime)
	}
	return d, nil
}

func open(connector driver.Connector, size int, idle time.Duration) *sql.DB {
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(idle)
	pool.SetConnMaxLifetime(connectionLifetime)
	return pool
}

// Close closes every connection.
func (d *DB) Close() error {
	return errors.Join(d.Direct.Close(), d.SQL.slow.Close(), d.SQL.Pool.Close())
}

var errReadOnly = errors.New("db: the database is read-only; after a failover the primary must be reachable under the same URL")

// Ping reports whether the database answers and can be written. A connection to a standby leaves the pool, so that the next one may
// find the primary.
func (d *DB) Ping(ctx context.Context) error {
	conn, err := d.SQL.Pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it only returns the connection to the pool
	var readOnly bool
	query := conn.QueryRowContext(ctx, "SELECT current_setting('transaction_read_only')::boolean")
	if err := query.Scan(&readOnly); err != nil || !readOnly {
		return err
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // Raw returns that error
	return errReadOnly
}
