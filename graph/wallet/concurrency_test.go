package wallet_test

import (
	"sync"
	"sync/atomic"
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
	var (
		group sync.WaitGroup
		held  atomic.Int64
	)
	for range 40 { // ten fit
		group.Go(func() {
			err := move(w, wallet.Hold, escrow(customer, contractor, 45_000, 5_000))
			switch {
			case err == nil:
				held.Add(1)
			case fault.From(err).Code != fault.InsufficientFunds:
				t.Errorf("unexpected: %v", err)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 10, held.Load())
	require.Equal(t, [2]int64{0, 500_000}, balances(t, w, customer))
	for i, e := range history(t, w, customer) {
		require.EqualValues(t, i+1, e.ID)
	}
}

// Payments between the same agents in both directions at once lock the two wallets in one order, so none fails.
func TestPaymentsBothWaysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	var group sync.WaitGroup
	for _, pair := range [][2]*graphtest.Agent{{one, other}, {other, one}} {
		for range 4 {
			group.Go(func() {
				for range 10 {
					e := escrow(pair[0], pair[1], 100, 10)
					if err := move(w, wallet.Hold, e); err != nil {
						t.Errorf("hold: %v", err)
					}
					if err := move(w, wallet.Release, e); err != nil {
						t.Errorf("release: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
	require.Equal(t, [2]int64{500_000 - 40*10, 0}, balances(t, w, one))
	require.Equal(t, [2]int64{500_000 - 40*10, 0}, balances(t, w, other))
	reconciled(t, w)
	require.EqualValues(t, 800, w.Count("SELECT sum(delta_minor) FROM ledger_entries WHERE account_kind = 'fees'"))
}
