package wallet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/wallet"
)

// A long history is read with a plan that is made once a connection: to plan takes longer than to read fifty entries.
func TestHistoryIsPlannedOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	w.Exec("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_balanced")
	w.Exec(`INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
		SELECT gen_random_uuid(), now(), gen_random_uuid(), $1, n, 'available', 'top_up', 1 FROM generate_series(2, 20000) n`, a.ID)
	w.Exec("ANALYZE ledger_entries")
	single := graphtest.Got(db.Open(w.URL, db.Options{Connections: 1}))(t)
	const calls = 12
	for n := range calls {
		in := wallet.HistoryInput{}
		if n%2 == 1 {
			in.Before = page.Param{"9000"}
		}
		graphtest.OK(t)((&wallet.API{DB: single}).WalletHistory(a.Ctx, in))
	}
	var planned, once int
	require.NoError(t, single.SQL.Pool.QueryRow(`SELECT custom_plans, generic_plans FROM pg_prepared_statements
		WHERE statement LIKE '%ledger_entries%'`).Scan(&planned, &once))
	require.Equal(t, calls, planned+once)
	require.LessOrEqual(t, planned, 5) // PostgreSQL plans a statement for its values five times to compare
	require.NoError(t, single.Close())
}
