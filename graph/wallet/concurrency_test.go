package wallet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

func TestParallelHoldsNeverOverdraw(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	customer, contractor := w.Agent(), w.Agent()
	codes := graphtest.AtOnce(40, func(int) error { // the balance covers ten
		return move(w, wallet.Hold, escrow(customer, contractor, 45_000, 5_000))
	})
	require.Equal(t, map[fault.Code]int{"": 10, fault.InsufficientFunds: 30}, codes.Count())
	require.Equal(t, [2]int64{0, 500_000}, balances(t, w, customer))
	for i, e := range history(t, w, customer) {
		require.EqualValues(t, i+1, e.ID)
	}
}

// Concurrent payments between the same agents in both directions lock the two wallets in one order, so none fails.
func TestPaymentsBothWaysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	codes := graphtest.AtOnce(8, func(i int) error {
		pair := []*graphtest.Agent{one, other}
		for range 10 {
			e := escrow(pair[i%2], pair[1-i%2], 100, 10)
			if err := move(w, wallet.Hold, e); err != nil {
				return err
			}
			if err := move(w, wallet.Release, e); err != nil {
				return err
			}
		}
		return nil
	})
	require.Equal(t, map[fault.Code]int{"": 8}, codes.Count())
	require.Equal(t, [2]int64{500_000 - 40*10, 0}, balances(t, w, one))
	require.Equal(t, [2]int64{500_000 - 40*10, 0}, balances(t, w, other))
	reconciled(t, w)
	require.EqualValues(t, 800, w.Count("SELECT sum(delta_minor) FROM ledger_entries WHERE account_kind = 'fees'"))
}
