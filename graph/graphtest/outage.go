package graphtest

import (
	"database/sql"
	"net/url"
	"os"

	"github.com/stretchr/testify/require"
)

// Outage takes the world's database away: connections end and new ones are refused, until the returned function is called.
func (w *World) Outage() (restore func()) {
	w.t.Helper()
	return w.refuseConnections("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1")
}

// RefuseConnections has the world's database refuse new connections, until the returned function is called; those that are open stay.
func (w *World) RefuseConnections() (restore func()) {
	w.t.Helper()
	return w.refuseConnections("")
}

func (w *World) refuseConnections(then string) (restore func()) {
	w.t.Helper()
	address, err := url.Parse(w.URL)
	require.NoError(w.t, err)
	name := address.Path[1:]
	server, err := sql.Open("postgres", os.Getenv("STOA_TEST_DATABASE_URL"))
	require.NoError(w.t, err)
	run := func(query string, args ...any) {
		_, err := server.Exec(query, args...)
		require.NoError(w.t, err)
	}
	run(`ALTER DATABASE "` + name + `" ALLOW_CONNECTIONS false`)
	if then != "" {
		run(then, name)
	}
	return func() {
		run(`ALTER DATABASE "` + name + `" ALLOW_CONNECTIONS true`)
		require.NoError(w.t, server.Close())
	}
}
