// Package graphtest makes the worlds of tests: a PostgreSQL database that holds only what the migrations wrote, and agents with real keys
// in it.
//
// Nothing of Stoa is mocked. Only the clock can be moved (World.Shift), which moves the database's. Worlds share nothing, so tests run
// in parallel. One world uses the database of another that has ended, after it is emptied (reset.sql); NewDatabase clones a new one.
// Tests that do not mind each other use one world (Shared).
// STOA_TEST_DATABASE_URL names a PostgreSQL superuser's connection; `make test` starts a cluster and sets it.
package graphtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"

	"github.com/lib/pq"
	"github.com/peterldowns/pgtestdb"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/migrate"
)

// template migrates the database that all others are cloned from.
type template struct{}

// Hash of every migration: a changed one makes a new template.
func (template) Hash() (string, error) { return migrate.Hash(), nil }

// Migrate runs what a server runs when it starts.
func (template) Migrate(ctx context.Context, database *sql.DB, _ pgtestdb.Config) error {
	return migrate.Up(ctx, database)
}

// NewDatabase clones a migrated database for one test and returns its URL; it is dropped when the test ends.
func NewDatabase(t TB) string {
	t.Helper()
	return clone(t).URL()
}

func clone(t TB) *pgtestdb.Config {
	t.Helper()
	server := serverURL(t)
	password, _ := server.User.Password()
	registerCloner()
	return pgtestdb.Custom(t, pgtestdb.Config{
		DriverName: cloningDriver,
		User:       server.User.Username(), Password: password,
		Host: server.Hostname(), Port: server.Port(),
		Database: server.Path[1:], Options: server.RawQuery,
		ForceTerminateConnections: true,
	}, template{})
}

// open connects to a database the way the server does, with a clock that can be moved.
func open(t TB, address string, clock *clock, options db.Options) *db.DB {
	t.Helper()
	options.Wrap = clock.wrap
	database, err := db.Open(address, options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = database.Close() }) // a connection that an outage has cut cannot be closed properly
	return database
}

// cloningDriver is the name of the driver by which databases are cloned.
const cloningDriver = "postgres cloning files"

var registerCloner = sync.OnceFunc(func() { sql.Register(cloningDriver, cloner{}) })

// cloner opens connections of lib/pq that clone a database by copying its files. PostgreSQL would write each page to its log as well,
// which is right for a database that is in use and takes twice as long.
type cloner struct{ pq.Driver }

// Open implements driver.Driver.
func (c cloner) Open(dsn string) (driver.Conn, error) {
	conn, err := c.Driver.Open(dsn)
	if err != nil {
		return nil, err
	}
	return cloningConn{conn}, nil
}

type cloningConn struct{ driver.Conn }

// ExecContext implements driver.ExecerContext.
func (c cloningConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.HasPrefix(query, "CREATE DATABASE") && strings.Contains(query, " TEMPLATE ") {
		query += " STRATEGY file_copy"
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}
