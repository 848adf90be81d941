package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// A read-only database is not ready, and the next Ping uses another connection.
func TestPingOfAStandby(t *testing.T) {
	t.Parallel()
	d, err := db.Open(graphtest.New(t).URL, db.Options{Connections: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, d.Ping(t.Context()))
	_, err = d.SQL.ExecContext(t.Context(), "SET default_transaction_read_only = on") // as on a standby
	require.NoError(t, err)
	require.ErrorContains(t, d.Ping(t.Context()), "the database is read-only")
	require.NoError(t, d.Ping(t.Context()))
}
