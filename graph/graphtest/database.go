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
	"fmt"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/migrate"
)

// The role that owns the databases of tests.
const owner, ownerPassword = "stoa_test", "testpass77"

// NewDatabase clones a migrated database for one test and returns its URL; it is dropped when the test ends, unless that has failed.
func NewDatabase(t TB) string {
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
func clone(t TB, name string) (admin *sql.DB) {
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
		database, err := sql.Open("postgres", addressOf(t, draft))
		require.NoError(t, err)
		require.NoError(t, migrate.Up(context.Background(), database))
		require.NoError(t, database.Close())
		run(t, admin, "ALTER DATABASE "+draft+" RENAME TO "+template)
	}
	run(t, admin, "SELECT pg_advisory_unlock_all()")
	run(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy OWNER "+owner)
	return admin
}

func run(t TB, on *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := on.Exec(statement, args...)
	require.NoError(t, err, statement)
}

// addressOf returns the URL of a database for its owner.
func addressOf(t TB, name string) string {
	t.Helper()
	address := serverURL(t)
	address.User, address.Path = url.UserPassword(owner, ownerPassword), "/"+name
	return address.String()
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
