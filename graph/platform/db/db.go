// Package db is one PostgreSQL database and the one way to write to it.
//
// Reads go through DB.Ent or DB.SQL; every mutation is one call of DB.Tx, or one statement of DB.SQL, which holds state, money,
// stored result, outbox rows and jobs together. Inside a transaction nothing slow happens: no network, no files, no decoding.
//
// Locks are taken in the orders contact → order → accounts by ascending id, and post → author → files. Serialisation failures,
// deadlocks and stale prepared statements that come before COMMIT are retried here; once COMMIT was sent nothing is, because its
// outcome is unknown: the caller gets service_unavailable and its own idempotency settles the matter.
//
// Connections keep prepared statements (package prepared), which neither ent nor River notice. The time that decides
// deadlines, expiries and windows is the database's, stoa_now() in SQL and Tx.Now in Go; tests move it with Options.Clock.
package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"stoa/ent"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/tracing"
)

// DB is a pool of connections. It is safe for concurrent use.
type DB struct {
	// SQL runs hand-tuned statements outside a transaction.
	SQL *sql.DB
	// Ent runs generated queries outside a transaction.
	Ent *ent.Client
}

// Options of Open; the zero value is what the server uses.
type Options struct {
	// Clock moves the database clock of every connection; nil leaves it alone.
	Clock *prepared.Clock
	// Connections is the size of the pool; 0 means 24.
	Connections int
	// StatementTimeout bounds each statement, in place of what the URL or the session's settings say; 0 leaves them.
	StatementTimeout time.Duration
	// Traced makes statements spans of the traces that they are part of.
	Traced bool
}

const (
	defaultConnections = 24
	connectionIdleTime = 5 * time.Minute
	// connectionLifetime bounds how long a kept statement can outlive a change of a column's type that PostgreSQL does not report.
	connectionLifetime = time.Hour
)

// Open makes the pool. It connects lazily: a database that is away shows at the first statement, as it does later on.
func Open(url string, options Options) (*DB, error) {
	if options.StatementTimeout > 0 {
		var err error
		if url, err = withStatementTimeout(url, options.StatementTimeout); err != nil {
			return nil, fmt.Errorf("db: %w", err)
		}
	}
	dsn, err := withSession(url)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	var settings []prepared.Option
	if options.Clock != nil {
		settings = append(settings, prepared.WithClock(options.Clock))
	}
	if options.Traced {
		settings = append(settings, prepared.WithHook(tracing.Statement))
	}
	connector, err := prepared.NewConnector(dsn, settings...)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	size := options.Connections
	if size == 0 {
		size = defaultConnections
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(connectionIdleTime)
	pool.SetConnMaxLifetime(connectionLifetime)
	return &DB{SQL: pool, Ent: ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, pool)))}, nil
}

// Close closes every connection.
func (d *DB) Close() error { return d.SQL.Close() }

// Ping tells whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.SQL.PingContext(ctx) }
