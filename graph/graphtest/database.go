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

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"github.com/peterldowns/pgtestdb"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/ent/enttest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/readpool"
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

// openReads opens the pool of searches and anonymous reads the way the server does.
func openReads(t TB, address string, clock *prepared.Clock) *db.DB {
	t.Helper()
	reads, err := db.Open(address, readpool.Options(db.Options{Clock: clock}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reads.Close()) })
	return reads
}

// open connects to a cloned database the way the server does. ent's own test client would create the schema; here the
// versioned migrations have done so, and what ent declares is compared with them by `make verify`.
func open(t TB, address string, clock *prepared.Clock) *db.DB {
	t.Helper()
	database, err := db.Open(address, db.Options{Clock: clock, Connections: 12})
	require.NoError(t, err)
	t.Cleanup(func() { _ = database.Close() }) // a connection that an outage has cut cannot be closed properly
	migrated := func(schema.Creator) schema.Creator {
		return schema.CreateFunc(func(context.Context, ...*schema.Table) error { return nil })
	}
	database.Ent = enttest.NewClient(t,
		enttest.WithOptions(ent.Driver(entsql.OpenDB(dialect.Postgres, database.SQL))),
		enttest.WithMigrateOptions(schema.WithHooks(migrated)))
	return database
}
