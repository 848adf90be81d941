package wallet_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// in runs a function in its own transaction.
func in(w *graphtest.World, move func(ctx context.Context, tx *db.Tx) error) error {
	return w.DB.Tx(context.Background(), move)
}

// move posts a transaction of an escrow.
func move(w *graphtest.World, by func(wallet.Escrow) wallet.Transaction, e wallet.Escrow) error {
	return post(w, by(e))
}

// post writes any transaction.
func post(w *graphtest.World, t wallet.Transaction) error {
	return in(w, func(ctx context.Context, tx *db.Tx) error { return wallet.Post(ctx, tx, t) })
}

// escrow is the money of a new order between two agents.
func escrow(customer, contractor *graphtest.Agent, amount, fee int64) wallet.Escrow {
	return wallet.Escrow{
		OrderID: uuid.New(), OperationID: uuid.New(), CustomerID: customer.ID, ContractorID: contractor.ID,
		AmountMinor: amount, FeeMinor: fee,
	}
}

// balances of an agent: available and reserved.
func balances(t *testing.T, w *graphtest.World, a *graphtest.Agent) [2]int64 {
	t.Helper()
	own := graphtest.Got(w.Wallet.MyWallet(a.Ctx))(t)
	require.Equal(t, own.Wallet.AvailableMinor+own.Wallet.ReservedMinor, own.Wallet.TotalMinor)
	return [2]int64{own.Wallet.AvailableMinor, own.Wallet.ReservedMinor}
}

// history is an agent's whole ledger, oldest first.
func history(t *testing.T, w *graphtest.World, a *graphtest.Agent) []*wallet.Entry {
	t.Helper()
	var (
		all []*wallet.Entry
		in  wallet.HistoryInput
	)
	for {
		part := graphtest.Got(w.Wallet.WalletHistory(a.Ctx, in))(t)
		for _, e := range part.Entries {
			all = append([]*wallet.Entry{e}, all...)
		}
		if part.NextBefore == nil {
			return all
		}
		in.Before = []string{itoa(*part.NextBefore)}
	}
}

// reconciled requires a ledger without a discrepancy.
func reconciled(t *testing.T, w *graphtest.World) {
	t.Helper()
	found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t)
	require.Empty(t, found)
}
