package wallet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/wallet"
)

// Each kind of damage is found, named and located. The test disables the triggers that prevent it.
func TestReconcileFindsDamage(t *testing.T) {
	t.Parallel()
	const order = `INSERT INTO orders (id, created_at, customer_id, updated_at, contractor_id, author_id, state, outcome, title, description, deadline,
		amount_minor, fee_minor, total_minor, fee_bps) VALUES (gen_random_uuid(), now(), $1, now(), $2, $1, $3, $4, 't', 'd', now(), 10, 1, 11, 1000)`
	for name, c := range map[string]struct {
		damage func(w *graphtest.World, a, b *graphtest.Agent)
		want   func(t *testing.T, w *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy
	}{
		"an entry lost": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("DELETE FROM ledger_entries WHERE bot_id = $1", a.ID)
			},
			func(t *testing.T, w *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				t.Helper()
				return []wallet.Discrepancy{
					{Check: wallet.LedgerBalance, Found: -500_000},
					{Check: wallet.TransactionBalance, TransactionID: unpaired(t, w), Found: -500_000},
					{Check: wallet.AvailableBalance, BotID: &a.ID, Found: 500_000},
					{Check: wallet.EntryCount, BotID: &a.ID, Found: 1},
				}
			},
		},
		"an entry's amount changed": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("UPDATE ledger_entries SET delta_minor = 500001 WHERE bot_id = $1", a.ID)
			},
			func(t *testing.T, w *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				t.Helper()
				return []wallet.Discrepancy{
					{Check: wallet.LedgerBalance, Found: 1},
					{Check: wallet.TransactionBalance, TransactionID: transactionOf(t, w, a), Found: 1},
					{Check: wallet.AvailableBalance, BotID: &a.ID, Expected: 500_001, Found: 500_000},
				}
			},
		},
		"two wrongs that cancel out": {
			func(w *graphtest.World, a, b *graphtest.Agent) {
				w.Exec("UPDATE ledger_entries SET transaction_id = (SELECT transaction_id FROM ledger_entries WHERE bot_id = $2) WHERE bot_id = $1", a.ID, b.ID)
			},
			func(t *testing.T, w *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				t.Helper()
				return []wallet.Discrepancy{
					{Check: wallet.TransactionBalance, TransactionID: unpaired(t, w), Found: -500_000},
					{Check: wallet.TransactionBalance, TransactionID: transactionOf(t, w, a), Found: 500_000},
				}
			},
		},
		"an available balance changed": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("UPDATE accounts SET available_minor = 7 WHERE bot_id = $1", a.ID)
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{{Check: wallet.AvailableBalance, BotID: &a.ID, Expected: 500_000, Found: 7}}
			},
		},
		"a reserved balance changed": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("UPDATE accounts SET reserved_minor = 7 WHERE bot_id = $1", a.ID)
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{
					{Check: wallet.ReservedBalance, BotID: &a.ID, Found: 7},
					{Check: wallet.OrderReserve, BotID: &a.ID, Found: 7},
				}
			},
		},
		"entries counted wrongly": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("UPDATE accounts SET entry_count = 3 WHERE bot_id = $1", a.ID)
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{{Check: wallet.EntryCount, BotID: &a.ID, Expected: 1, Found: 3}}
			},
		},
		"entries numbered with a gap": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("UPDATE ledger_entries SET number = 2 WHERE bot_id = $1", a.ID)
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{{Check: wallet.EntryNumbers, BotID: &a.ID, Expected: 1, Found: 2}}
			},
		},
		"a wallet lost": {
			func(w *graphtest.World, a, _ *graphtest.Agent) {
				w.Exec("DELETE FROM accounts WHERE bot_id = $1", a.ID)
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{
					{Check: wallet.AvailableBalance, BotID: &a.ID, Expected: 500_000},
					{Check: wallet.EntryCount, BotID: &a.ID, Expected: 1},
				}
			},
		},
		"orders without their reserve": {
			func(w *graphtest.World, a, b *graphtest.Agent) {
				for _, state := range []string{"funded", "in_progress", "delivered", "disputed", "offered", "cancelled", "rejected"} {
					w.Exec(order, a.ID, b.ID, state, nil)
				}
				w.Exec(order, a.ID, b.ID, "closed", "accepted")
			},
			func(_ *testing.T, _ *graphtest.World, a *graphtest.Agent) []wallet.Discrepancy {
				return []wallet.Discrepancy{{Check: wallet.OrderReserve, BotID: &a.ID, Expected: 44}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			a, b := w.Agent(), w.Agent()
			reconciled(t, w)
			w.Exec("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_append_only")
			c.damage(w, a, b)
			w.Exec("ALTER TABLE ledger_entries ENABLE TRIGGER ledger_entries_append_only")
			found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t)
			require.Equal(t, c.want(t, w, a), found)
			for _, scope := range wallet.Scopes() {
				require.ElementsMatch(t, c.want(t, w, a), checked(t, w, scope), scope)
			}
			require.ElementsMatch(t, c.want(t, w, a), checked(t, w, wallet.NewEntries), "it is found again until it is mended")
			require.Empty(t, checked(t, w, wallet.WholeLedger), "it is not due before tomorrow")
			w.Shift(24 * time.Hour)
			require.ElementsMatch(t, c.want(t, w, a), checked(t, w, wallet.WholeLedger))
		})
	}
}

func TestReconcileReportsTheFirstOfMany(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	const switchTrigger = "ALTER TABLE ledger_entries %s TRIGGER ledger_entries_balanced"
	w.Exec(fmt.Sprintf(switchTrigger, "DISABLE"))
	w.Exec(`INSERT INTO ledger_entries (id, kind, transaction_id, account_kind, delta_minor, created_at)
		SELECT gen_random_uuid(), 'top_up', gen_random_uuid(), 'issuance', 1, now() FROM generate_series(1, 500)`)
	w.Exec(fmt.Sprintf(switchTrigger, "ENABLE"))
	found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t)
	require.Len(t, found, 101)
	require.Equal(t, wallet.Discrepancy{Check: wallet.LedgerBalance, Found: 500}, found[0])
}

// transactionOf returns the only transaction of an agent.
func transactionOf(t *testing.T, w *graphtest.World, a *graphtest.Agent) *uuid.UUID {
	t.Helper()
	return one(t, w, "SELECT transaction_id FROM ledger_entries WHERE bot_id = '"+a.ID.String()+"'")
}

// unpaired is the transaction of a single entry.
func unpaired(t *testing.T, w *graphtest.World) *uuid.UUID {
	t.Helper()
	return one(t, w, "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING count(*) = 1")
}

func one(t *testing.T, w *graphtest.World, query string) *uuid.UUID {
	t.Helper()
	var id uuid.UUID
	require.NoError(t, w.DB.SQL.Pool.QueryRow(query).Scan(&id))
	return &id
}
