package wallet_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
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
	require.Empty(t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))
}

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

// The database enforces the rules of the ledger, for every program that writes to it.
func TestDatabaseKeepsTheRulesOfTheLedger(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	const entry = `INSERT INTO ledger_entries (id, transaction_id, bot_id, kind, number, account_kind, delta_minor, created_at) VALUES `
	for _, c := range []struct {
		name, query string
		args        []any
		state       string
	}{
		{"change an entry", "UPDATE ledger_entries SET delta_minor = delta_minor", nil, "23001"},
		{"change no entry", "UPDATE ledger_entries SET delta_minor = 1 WHERE false", nil, "23001"},
		{"delete an entry", "DELETE FROM ledger_entries WHERE bot_id = $1", []any{a.ID}, "23001"},
		{"empty the ledger", "TRUNCATE ledger_entries", nil, "23001"},
		{"empty it with what depends on it", "TRUNCATE ledger_entries CASCADE", nil, "23001"},
		{"add half a transaction", entry + "(gen_random_uuid(), $1, NULL, 'top_up', NULL, 'issuance', -5, now())", []any{uuid.New()}, "23514"},
		{"add an unbalanced transaction", entry + `(gen_random_uuid(), $1, NULL, 'top_up', NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, $2, 'top_up', 2, 'available', 6, now())`, []any{uuid.New(), a.ID}, "23514"},
		{"balance one transaction with another", entry + `(gen_random_uuid(), $1, NULL, 'top_up', NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $2, $3, 'top_up', 2, 'available', 5, now())`, []any{uuid.New(), uuid.New(), a.ID}, "23514"},
		{"add an entry of nothing", entry + "(gen_random_uuid(), $1, NULL, 'top_up', NULL, 'issuance', 0, now())", []any{uuid.New()}, "23514"},
		{"number an entry twice", entry + `(gen_random_uuid(), $1, NULL, 'top_up', NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, $2, 'top_up', 1, 'available', 5, now())`, []any{uuid.New(), a.ID}, "23505"},
		{"grant twice", entry + `(gen_random_uuid(), $1, NULL, 'grant', NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, $2, 'grant', 2, 'available', 5, now())`, []any{uuid.New(), a.ID}, "23505"},
		{"overdraw", "UPDATE accounts SET available_minor = -1", nil, "23514"},
		{"overdraw the reserve", "UPDATE accounts SET reserved_minor = -1", nil, "23514"},
		{"open a second wallet", "INSERT INTO accounts (id, created_at, bot_id) VALUES (gen_random_uuid(), now(), $1)", []any{a.ID}, "23505"},
	} {
		_, err := w.DB.SQL.ExecContext(context.Background(), c.query, c.args...)
		refused := new(pq.Error)
		require.ErrorAs(t, err, &refused, c.name)
		require.Equal(t, c.state, string(refused.Code), "%s: %v", c.name, err)
	}
	reconciled(t, w)
}

const openWallet = "SELECT stoa_open_wallet($1, $2, $3)"

// A new wallet equals an empty one to which the grant was posted.
func TestAWalletBeginsWithItsGrant(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	require.Equal(t, [2]int64{wallet.GrantMinor, 0}, balances(t, w, a))
	all := history(t, w, a)
	require.Len(t, all, 1)
	granted := *all[0]
	require.Equal(t, wallet.Entry{
		ID: 1, TransactionID: granted.TransactionID, Kind: string(wallet.Grant), AccountKind: string(wallet.Available),
		DeltaMinor: wallet.GrantMinor, CreatedAt: granted.CreatedAt,
	}, granted)
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM ledger_entries WHERE transaction_id = $1 AND kind = 'grant' AND account_kind = 'issuance'
		AND bot_id IS NULL AND number IS NULL AND delta_minor = $2 AND operation_id IS NULL AND order_id IS NULL AND created_at = $3`,
		granted.TransactionID, -wallet.GrantMinor, granted.CreatedAt))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM ledger_entries"))
	reconciled(t, w)
}

func TestAWalletIsOpenedOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	for name, c := range map[string]struct {
		owner  uuid.UUID
		amount int64
	}{
		"a second wallet":    {a.ID, wallet.GrantMinor},
		"nobody's wallet":    {uuid.New(), wallet.GrantMinor},
		"a grant of nothing": {uuid.New(), 0},
	} {
		_, err := w.DB.SQL.ExecContext(context.Background(), openWallet, c.owner, wallet.Opening()[0], c.amount)
		require.Equal(t, fault.LedgerConflict, fault.From(wallet.Refusal(err)).Code, name)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM accounts"))
	reconciled(t, w)
}
