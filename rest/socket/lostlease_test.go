package socket_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// If the answer to a lease is lost, the process frees the slot, even before PostgreSQL makes the lease.
func TestASlotIsGivenBackWhoseLeaseComesLater(t *testing.T) {
	t.Parallel()
	const (
		locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7061006 AND database = " +
			"(SELECT oid FROM pg_database WHERE datname = current_database())"
		closed = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE '%stoa_close_sockets%'"
		leases = "SELECT count(*) FROM socket_leases"
	)
	h := newCluster(t)
	network := graphtest.NewDatabaseProxy(t, h.URL)
	behind, err := db.Open(network.URL, db.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = behind.Close() })
	h.outbox = behind
	p, agent := h.process(quotas(1, 0)), h.Agent()
	lock, err := h.DB.SQL.Pool.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = lock.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(7061006)")
	require.NoError(t, err)

	refused := make(chan int)
	go func() { refused <- p.dial(agent.Token).code() }()
	require.Eventually(t, func() bool { return h.Count(locks) == 2 }, slack.TestWait, time.Millisecond)
	network.Tear()
	require.Equal(t, 1013, <-refused)
	require.Eventually(t, func() bool { return h.Count(closed) > 0 }, slack.TestWait, time.Millisecond)
	require.NoError(t, lock.Commit())
	require.Eventually(t, func() bool { return h.Count(locks) == 0 }, slack.TestWait, time.Millisecond)
	require.Eventually(t, func() bool { return h.Count(leases) == 0 }, slack.TestWait, 10*time.Millisecond)
	p.dial(agent.Token).quiet()
}
