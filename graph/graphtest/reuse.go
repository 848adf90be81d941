package graphtest

import (
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"sync"

	"github.com/stretchr/testify/require"

	"stoa/migrate"
)

//go:embed reset.sql
var reset string

// databases holds the databases that the worlds of this program use one after the other. Its session holds an advisory lock for
// each; when the program has ended, another may take them.
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

// takeDatabase returns the URL of a freshly migrated database, which the test has until it ends. That is a tenth of the work of
// NewDatabase. The database of a failed test stays unchanged while the program runs.
func takeDatabase(t TB) string {
	t.Helper()
	d := idle(t)
	if _, err := d.admin.Exec(reset); err != nil { // it is missing or unusable
		require.NoError(t, d.admin.Close())
		run(t, databases.session, fmt.Sprintf("DROP DATABASE IF EXISTS %q WITH (FORCE)", d.name))
		require.NoError(t, clone(t, d.name).Close())
		d.admin = connect(t, d.name)
		run(t, d.admin, reset)
	}
	address := addressOf(t, d.name)
	t.Logf("database: %s", address)
	t.Cleanup(func() {
		if !t.Failed() {
			databases.mu.Lock()
			defer databases.mu.Unlock()
			databases.free = append(databases.free, d)
		}
	})
	return address
}

// idle returns a database that no world uses.
func idle(t TB) *reused {
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
func connect(t TB, database string) *sql.DB {
	t.Helper()
	address := serverURL(t)
	address.Path = "/" + database
	pool, err := sql.Open("postgres", address.String())
	require.NoError(t, err)
	pool.SetMaxOpenConns(1)
	return pool
}

// serverURL returns the URL of the superuser.
func serverURL(t TB) *url.URL {
	t.Helper()
	address := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, address, "STOA_TEST_DATABASE_URL is not set: run the tests through `make test`")
	server, err := url.Parse(address)
	require.NoError(t, err)
	return server
}
