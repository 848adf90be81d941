package main

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

func TestDirectConnectionsAreNotShared(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("postgres", graphtest.NewDatabase(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	for range 3 {
		shared, err := sharesConnections(t.Context(), pool)
		require.NoError(t, err)
		require.False(t, shared)
	}
}

func TestExplainPooler(t *testing.T) {
	t.Parallel()
	require.NoError(t, explainPooler(nil))
	require.NoError(t, explainPooler(errors.New("connection refused")))
	err := explainPooler(&pq.Error{Code: "08P01", Message: "unsupported startup parameter: jit"})
	require.ErrorContains(t, err, "ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, client_connection_check_interval, jit")
}
