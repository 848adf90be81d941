// Package db accesses one PostgreSQL database.
//
// Reads go through DB.Ent or DB.SQL; every change is one call of DB.Tx, or one statement of DB.SQL, with state, money, stored
// result, outbox rows and jobs together. Nothing slow happens inside a transaction: no network, no files, no decoding.
//
// Locks are taken in the orders contact → order → accounts by ascending id, and post → author → files. Serialisation failures,
// deadlocks and stale prepared statements before COMMIT are retried here. After COMMIT is sent, nothing is retried. If its
// outcome is unknown, the caller gets service_unavailable and may repeat the request under the same idempotency id.
//
// Statements are kept prepared (Runner). Deadlines, expiries and windows use the database clock: stoa_now() in SQL, Tx.Now in Go.
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
	// Direct bypasses a pooler, for a library that does not work with a pooler in transaction mode.
	Direct *sql.DB

	connector driver.Connector
}

// Options of Open. The server uses the zero value.
type Options struct {
	// Connections is the maximum of open connections, without those for patient statements; 0 means 24.
	Connections int
	// StatementTimeout bounds each statement and replaces the URL's or the session's setting; 0 keeps that setting.
	StatementTimeout time.Duration
	// Silence is the minimum wait for an answer, if longer than StatementTimeout, because a pooler may ignore StatementTimeout.
	Silence time.Duration
	// DirectURL bypasses a pooler, for DB.Direct and for patient statements, because a pooler may ignore or forget session
	// settings. If it is empty, the URL is used.
	DirectURL string
	// Standby allows a URL of a hot standby, which is only read.
	Standby bool
	// Wrap is for tests, which move the clock of every connection.
	Wrap func(driver.Connector) driver.Connector
}

const (
	defaultConnections = 24
	directConnections  = 4
	connectionIdleTime = 5 * time.Minute
	// connectionLifetime bounds how long a kept statement can outlive a column's change of type that PostgreSQL does not report.
	connectionLifetime = time.Hour
)

// Open makes the pool. It connects lazily: if the database is down, the first statement fails, as a later one would.
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

// Ping checks that the database answers and is writable. It closes a connection to a standby, so that the next one can reach the
// primary.
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
