package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

func TestMissingSettingsAreFilled(t *testing.T) {
	t.Parallel()
	dsn := graphtest.Got(db.ConnectionURL("postgres://u:p%40ss@host:5432/db?sslmode=disable&connect_timeout=1"))(t)
	require.Contains(t, dsn, "connect_timeout=1&")
	require.Contains(t, dsn, "&target_session_attrs=read-write")
	require.Contains(t, dsn, "u:p%40ss@host:5432/db")

	dsn = graphtest.Got(db.ConnectionURL("host=/run user=stoa connect_timeout=7"))(t)
	require.Contains(t, dsn, "connect_timeout=7 ")
	require.Contains(t, dsn, " target_session_attrs=read-write")

	require.Error(t, graphtest.Err(db.ConnectionURL("postgres://%zz")))
}

// A session has the server's settings, unless the connection string has its own.
func TestSessionsAreSet(t *testing.T) {
	t.Parallel()
	d := graphtest.Got(db.Open(graphtest.New(t).URL+"&lock_timeout=7", db.Options{Connections: 1}))(t)
	defer func() { require.NoError(t, d.Close()) }()
	for name, want := range map[string]string{"lock_timeout": "7ms", "application_name": "stoa", "TimeZone": "UTC", "jit": "off"} {
		require.Equal(t, want, one[string](t, d.SQL, "SELECT current_setting($1)", name), name)
	}
}
