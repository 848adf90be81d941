// Package graphtest makes worlds for tests: a freshly migrated PostgreSQL database with agents that have real keys.
//
// Nothing of Stoa is mocked. Only the database's clock can be moved (World.Shift). Worlds share nothing, so tests run in
// parallel. A world reuses the database of an ended world, after it is emptied (reset.sql); NewDatabase clones a new one. Tests
// that do not disturb each other share one world (Shared). STOA_TEST_DATABASE_URL names a PostgreSQL superuser's connection;
// `make test` starts a cluster and sets it.
package graphtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/migrate"
)

// The role that owns the databases of tests.
const owner, ownerPassword = "stoa_test", "testpass77"

// NewDatabase clones a migrated database for one test and returns its URL; it is dropped after the test, unless the test failed.
func NewDatabase(t testing.TB) string {
	t.Helper()
	name := "testdb_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	admin := clone(t, name)
	t.Cleanup(func() {
		if !t.Failed() {
			run(t, admin, "DROP DATABASE "+name+" WITH (FORCE)")
		}
		require.NoError(t, admin.Close())
	})
	return addressOf(t, name)
}

// clone makes a database by copying the files of the template. PostgreSQL's default also logs each page, which takes twice as
// long. The first program with these migrations makes the template. The caller must close the superuser's connection that clone
// returns.
func clone(t testing.TB, name string) (admin *sql.DB) {
	t.Helper()
	admin = connect(t, serverURL(t).Path[1:])
	template, made := fmt.Sprintf("stoa_template_%.16s", migrate.Hash()), false
	run(t, admin, "SELECT pg_advisory_lock(hashtextextended($1, 0))", template)
	require.NoError(t, admin.QueryRow("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", template).Scan(&made))
	if !made {
		draft := template + "_draft"
		run(t, admin, "DROP DATABASE IF EXISTS "+draft)
		run(t, admin, "DO $$ BEGIN CREATE ROLE "+owner+" LOGIN PASSWORD '"+ownerPassword+"'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
		run(t, admin, "CREATE DATABASE "+draft+" OWNER "+owner)
		database := Got(sql.Open("postgres", addressOf(t, draft)))(t)
		require.NoError(t, migrate.Up(context.Background(), database))
		require.NoError(t, database.Close())
		run(t, admin, "ALTER DATABASE "+draft+" RENAME TO "+template)
	}
	run(t, admin, "SELECT pg_advisory_unlock_all()")
	run(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy OWNER "+owner)
	return admin
}

func run(t testing.TB, on *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := on.Exec(statement, args...)
	require.NoError(t, err, statement)
}

// addressOf returns the URL of a database for its owner.
func addressOf(t testing.TB, name string) string {
	t.Helper()
	address := serverURL(t)
	address.User, address.Path = url.UserPassword(owner, ownerPassword), "/"+name
	return address.String()
}

// open connects to a database the way the server does, with a clock that can be moved.
func open(t testing.TB, address string, clock *clock, options db.Options) *db.DB {
	t.Helper()
	options.Wrap = clock.wrap
	database := Got(db.Open(address, options))(t)
	t.Cleanup(func() { _ = database.Close() }) // a connection that an outage has cut cannot be closed properly
	return database
}

//go:embed reset.sql
var reset string

// databases holds the databases that the worlds of this program use one after the other. Its session holds an advisory lock for
// each database; when the program has ended, another may take them.
var databases struct {
	mu      sync.Mutex
	session *sql.DB
	taken   int
	free    []*reused
}

// reused is a database that one world at a time uses.
type reused struct {
	name string
	// admin is a superuser's connection to it.
	admin *sql.DB
}

// takeDatabase returns the name of a freshly migrated database, which the test has until it ends. That is a tenth of the work of
// NewDatabase. The database of a failed test stays unchanged while the program runs.
func takeDatabase(t testing.TB) string {
	t.Helper()
	d := idle(t)
	if _, err := d.admin.Exec(reset); err != nil { // it is missing or unusable
		require.NoError(t, d.admin.Close())
		run(t, databases.session, fmt.Sprintf("DROP DATABASE IF EXISTS %q WITH (FORCE)", d.name))
		require.NoError(t, clone(t, d.name).Close())
		d.admin = connect(t, d.name)
		run(t, d.admin, reset)
	}
	t.Logf("database: %s", addressOf(t, d.name))
	t.Cleanup(func() {
		if !t.Failed() {
			databases.mu.Lock()
			defer databases.mu.Unlock()
			databases.free = append(databases.free, d)
		}
	})
	return d.name
}

// idle returns a database that no world uses.
func idle(t testing.TB) *reused {
	t.Helper()
	databases.mu.Lock()
	defer databases.mu.Unlock()
	if last := len(databases.free) - 1; last >= 0 {
		d := databases.free[last]
		databases.free = databases.free[:last]
		return d
	}
	if databases.session == nil {
		databases.session = connect(t, serverURL(t).Path[1:])
	}
	d := new(reused)
	for locked := false; !locked; {
		databases.taken++
		d.name = fmt.Sprintf("stoa_%.16s_%d", migrate.Hash(), databases.taken)
		require.NoError(t, databases.session.QueryRow("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", d.name).Scan(&locked))
	}
	d.admin = connect(t, d.name)
	return d
}

// connect returns a pool of one connection of the superuser to a database, which stays open.
func connect(t testing.TB, database string) *sql.DB {
	t.Helper()
	address := serverURL(t)
	address.Path = "/" + database
	pool := Got(sql.Open("postgres", address.String()))(t)
	pool.SetMaxOpenConns(1)
	return pool
}

// serverURL returns the URL of the superuser.
func serverURL(t testing.TB) *url.URL {
	t.Helper()
	address := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, address, "STOA_TEST_DATABASE_URL is not set: run the tests through `make test`")
	return Got(url.Parse(address))(t)
}

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
