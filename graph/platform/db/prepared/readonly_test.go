package prepared_test

import (
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"
)

// After a failover a pool may have connections to what is a standby now. The first refused write ends them.
func TestConnectionToAStandbyLeavesThePool(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	const query = "SELECT pg_backend_pid() + $1"
	before := one[int](t, db, query, 0)
	must(t, db, "SET default_transaction_read_only = on") // as on a standby
	_, err := db.ExecContext(t.Context(), "CREATE TABLE written ()")
	require.NotNil(t, pq.As(err, pqerror.ReadOnlySQLTransaction), err)
	require.NotEqual(t, before, one[int](t, db, query, 0))
	must(t, db, "CREATE TABLE written ()")
}
