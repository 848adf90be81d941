// Package db is the access to one PostgreSQL database.
//
// Reads go through DB.Ent or DB.SQL; every change is one call of DB.Tx, or one statement of DB.SQL, with state, money, stored result,
// outbox rows and jobs together. Nothing slow happens inside a transaction: no network, no files, no decoding.
//
// Locks are taken in the orders contact → order → accounts by ascending id, and post → author → files. Serialisation failures, deadlocks
// and stale prepared statements before COMMIT are retried here. Once COMMIT was sent nothing is retried, because its outcome is unknown:
// the caller gets service_unavailable and may repeat the request under the same idempotency id.
//
// Connections keep prepared statements (package prepared); ent and River need not know. Deadlines, expiries and windows go by the time of
// the database, stoa_now() in SQL and Tx.Now in Go; tests move it with Options.Clock.
package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"

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

	connector driver.Connector
}

// Options of Open. The server uses the zero value.
type Options struct {
	// Clock shifts the database clock of every connection; nil does not.
	Clock *prepared.Clock
	// Connections is the size of the pool; 0 means 24.
	Connections int
	// StatementTimeout bounds each statement, instead of the URL or the settings of the session; 0 leaves those.
	StatementTimeout time.Duration
	// Pooled is for a URL that leads to a pooler in transaction mode.
	Pooled bool
	// NeverCancel is for a URL that leads to a pooler of any mode (prepared.NeverCancel).
	NeverCancel bool
	// Standby is for a URL that leads to a hot standby, which is only read.
	Standby bool
	// Traced makes a span of each statement of a traced request.
	Traced bool
}

const (
	defaultConnections = 24
	connectionIdleTime = 5 * time.Minute
	// connectionLifetime bounds how long a cached statement can outlive a change of a column's type that PostgreSQL does not report.
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
	if options.Standby {
		var err error
		if url, err = withSettings(url, []setting{{"target_session_attrs", string(pq.TargetSessionAttrsAny)}}); err != nil {
			return nil, err
		}
	}
	dsn, err := withSession(url)
	if err != nil {
		return nil, err
	}
	var settings []prepared.Option
	if options.Clock != nil {
		settings = append(settings, prepared.WithClock(options.Clock))
	}
	if options.Pooled {
		settings = append(settings, prepared.TransactionPooling())
	}
	if options.NeverCancel {
		settings = append(settings, prepared.NeverCancel())
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
	pool := sql.OpenDB(primary{connector})
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(connectionIdleTime)
	pool.SetConnMaxLifetime(connectionLifetime)
	return &DB{SQL: pool, Ent: ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, pool))), connector: connector}, nil
}

// Close closes every connection.
func (d *DB) Close() error { return d.SQL.Close() }

var errReadOnly = errors.New("db: the database is read-only; after a failover the primary must be reachable under the same URL")

// Ping reports whether the database answers and can be written. A connection to a standby leaves the pool, so that the next one may
// find the primary.
func (d *DB) Ping(ctx context.Context) error {
	conn, err := d.SQL.Conn(ctx)
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
