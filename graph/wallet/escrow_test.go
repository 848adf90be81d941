package wallet_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// posting is one row of §2.5 as stored in the ledger.
type posting struct {
	bot     uuid.UUID
	account string
	delta   int64
}

// postings of the newest transaction of a kind.
func postings(t *testing.T, w *graphtest.World, kind wallet.Kind) []posting {
	t.Helper()
	rows, err := w.DB.SQL.Pool.Query(`SELECT coalesce(bot_id, '00000000-0000-0000-0000-000000000000'), account_kind, delta_minor FROM ledger_entries
		WHERE transaction_id = (SELECT transaction_id FROM ledger_entries WHERE kind = $1 ORDER BY transaction_id DESC LIMIT 1) ORDER BY id`, string(kind))
	require.NoError(t, err)
	defer rows.Close()
	var all []posting
	for rows.Next() {
		var p posting
		require.NoError(t, rows.Scan(&p.bot, &p.account, &p.delta))
		all = append(all, p)
	}
	require.NoError(t, rows.Err())
	return all
}

func TestPostingsOfEveryKind(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	customer, contractor := w.Agent(), w.Agent()
	e := escrow(customer, contractor, 1000, 100)
	free := escrow(customer, contractor, 1000, 0)
	issue := func(kind wallet.Kind) func() error {
		return func() error {
			return in(w, func(ctx context.Context, tx *db.Tx) error { return wallet.Issue(ctx, tx, kind, customer.ID, 7, nil) })
		}
	}
	for _, c := range []struct {
		name     string
		act      func() error
		kind     wallet.Kind
		postings []posting
		customer [2]int64
	}{
		{"starting grant", func() error { return nil }, wallet.Grant,
			[]posting{{uuid.Nil, "issuance", -500_000}, {contractor.ID, "available", 500_000}}, [2]int64{500_000, 0}},
		{"reward", issue(wallet.Reward), wallet.Reward,
			[]posting{{uuid.Nil, "issuance", -7}, {customer.ID, "available", 7}}, [2]int64{500_007, 0}},
		{"top-up", issue(wallet.TopUp), wallet.TopUp,
			[]posting{{uuid.Nil, "issuance", -7}, {customer.ID, "available", 7}}, [2]int64{500_014, 0}},
		{"reserve", func() error { return move(w, wallet.Hold, e) }, wallet.Reserve,
			[]posting{{customer.ID, "available", -1100}, {customer.ID, "reserved", 1100}}, [2]int64{498_914, 1100}},
		{"payment", func() error { return move(w, wallet.Release, e) }, wallet.Payment,
			[]posting{{customer.ID, "reserved", -1100}, {contractor.ID, "available", 1000}, {uuid.Nil, "fees", 100}}, [2]int64{498_914, 0}},
		{"second reserve", func() error { return move(w, wallet.Hold, e) }, wallet.Reserve,
			[]posting{{customer.ID, "available", -1100}, {customer.ID, "reserved", 1100}}, [2]int64{497_814, 1100}},
		{"refund", func() error { return move(w, wallet.Return, e) }, wallet.Refund,
			[]posting{{customer.ID, "reserved", -1100}, {customer.ID, "available", 1100}}, [2]int64{498_914, 0}},
		{"reserve without fee", func() error { return move(w, wallet.Hold, free) }, wallet.Reserve,
			[]posting{{customer.ID, "available", -1000}, {customer.ID, "reserved", 1000}}, [2]int64{497_914, 1000}},
		{"payment without fee", func() error { return move(w, wallet.Release, free) }, wallet.Payment,
			[]posting{{customer.ID, "reserved", -1000}, {contractor.ID, "available", 1000}}, [2]int64{497_914, 0}},
	} {
		require.NoError(t, c.act(), c.name)
		require.Equal(t, c.postings, postings(t, w, c.kind), c.name)
		require.Equal(t, c.customer, balances(t, w, customer), c.name)
		reserved := w.Count("SELECT sum(reserved_minor) FROM accounts")
		found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t, c.name)
		if reserved == 0 {
			require.Empty(t, found, c.name)
		} else { // these tests have no order beside the money
			require.Equal(t, []wallet.Discrepancy{{Check: wallet.OrderReserve, BotID: &customer.ID, Found: reserved}}, found, c.name)
		}
	}
	require.Equal(t, [2]int64{502_000, 0}, balances(t, w, contractor))
	for i, entry := range history(t, w, contractor) {
		require.EqualValues(t, i+1, entry.ID)
		require.Contains(t, []string{"grant", "payment"}, entry.Kind)
	}
}

func TestEntriesNameOrderAndOperation(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	customer, contractor := w.Agent(), w.Agent()
	e := escrow(customer, contractor, 10, 1)
	require.NoError(t, move(w, wallet.Hold, e))
	all := history(t, w, customer)
	require.Len(t, all, 3)
	require.Nil(t, all[0].OrderID)
	require.Nil(t, all[0].OperationID)
	for _, entry := range all[1:] {
		require.Equal(t, &e.OrderID, entry.OrderID)
		require.Equal(t, &e.OperationID, entry.OperationID)
		require.Equal(t, all[1].TransactionID, entry.TransactionID)
	}
	require.Len(t, history(t, w, contractor), 1, "another agent's entries are not shown")
}

func TestRefusedPostingsChangeNothing(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	customer, contractor := w.Agent(), w.Agent()
	dear := escrow(customer, contractor, 500_000, 1)
	ghost := escrow(&graphtest.Agent{ID: uuid.New()}, contractor, 1, 0)
	issue := func(kind wallet.Kind, amount int64) func() error {
		return func() error {
			return in(w, func(ctx context.Context, tx *db.Tx) error {
				return wallet.Issue(ctx, tx, kind, customer.ID, amount, nil)
			})
		}
	}
	topUp := func(from uuid.UUID, side wallet.AccountKind, to uuid.UUID, amount int64) func() error {
		return func() error {
			return post(w, wallet.Transaction{Kind: wallet.TopUp, Postings: []wallet.Posting{
				{BotID: from, Account: side, DeltaMinor: -1}, {BotID: to, Account: wallet.Available, DeltaMinor: amount},
			}})
		}
	}
	for name, c := range map[string]struct {
		act  func() error
		code fault.Code
	}{
		"a hold over the available balance":  {func() error { return move(w, wallet.Hold, dear) }, fault.InsufficientFunds},
		"a payment without a reserve":        {func() error { return move(w, wallet.Release, dear) }, fault.LedgerConflict},
		"a refund without a reserve":         {func() error { return move(w, wallet.Return, dear) }, fault.LedgerConflict},
		"a hold of an agent without wallet":  {func() error { return move(w, wallet.Hold, ghost) }, fault.LedgerConflict},
		"a second grant":                     {issue(wallet.Grant, 1), fault.LedgerConflict},
		"an unknown kind":                    {issue("gift", 1), fault.LedgerConflict},
		"a top-up of nothing":                {issue(wallet.TopUp, 0), fault.LedgerConflict},
		"a top-up of less":                   {issue(wallet.TopUp, -5), fault.LedgerConflict},
		"a balance beyond a 64-bit integer":  {issue(wallet.TopUp, math.MaxInt64), fault.LedgerConflict},
		"postings that do not sum to zero":   {topUp(uuid.Nil, wallet.Issuance, customer.ID, 2), fault.LedgerConflict},
		"a platform's side with an owner":    {topUp(customer.ID, wallet.Issuance, customer.ID, 1), fault.LedgerConflict},
		"an agent's side without an owner":   {topUp(uuid.Nil, wallet.Issuance, uuid.Nil, 1), fault.LedgerConflict},
		"a side that the ledger has not got": {topUp(uuid.Nil, "savings", customer.ID, 1), fault.LedgerConflict},
	} {
		graphtest.RequireFault(t, c.act(), c.code)
		require.Equal(t, [2]int64{500_000, 0}, balances(t, w, customer), name)
		require.EqualValues(t, 4, w.Count("SELECT count(*) FROM ledger_entries"), name)
	}
	reconciled(t, w)
}
