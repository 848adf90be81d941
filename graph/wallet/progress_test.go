package wallet_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/metrics"
	"stoa/graph/wallet"
)

// checked runs a check to its end.
func checked(t *testing.T, w *graphtest.World, scope wallet.Scope) (all []wallet.Discrepancy) {
	t.Helper()
	for over := false; !over; {
		var (
			found []wallet.Discrepancy
			err   error
		)
		found, over, err = w.Wallet.ContinueCheck(context.Background(), scope)
		require.NoError(t, err)
		all = append(all, found...)
	}
	return all
}

// tamper changes entries, which the triggers refuse otherwise.
func tamper(w *graphtest.World, query string, args ...any) {
	w.Exec("ALTER TABLE ledger_entries DISABLE TRIGGER USER")
	w.Exec(query, args...)
	w.Exec("ALTER TABLE ledger_entries ENABLE TRIGGER USER")
}

// age makes all entries old, so that the next check of new entries skips them.
func age(w *graphtest.World) {
	w.Exec("UPDATE ledger_checks SET since = 'ffffffff-0000-0000-0000-000000000000'")
}

// A check of new entries adds the entries after the checkpoints, and finds every changed balance, even with old entries only.
func TestNewEntriesAreCheckedFromTheCheckpoints(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a, b := w.Agent(), w.Agent()
	require.Empty(t, checked(t, w, wallet.NewEntries))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM ledger_checkpoints WHERE number = 1 AND available_minor = 500000"))
	for range 3 {
		require.NoError(t, move(w, wallet.Release, held(t, w, a, b)))
	}
	age(w)
	require.Empty(t, checked(t, w, wallet.NewEntries))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_checkpoints WHERE bot_id = $1 AND number = 10 AND available_minor = 499967", a.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_checkpoints WHERE bot_id = $1 AND number = 4 AND available_minor = 500030", b.ID))

	age(w)
	w.Exec("UPDATE accounts SET available_minor = 7 WHERE bot_id = $1", b.ID)
	want := []wallet.Discrepancy{{Check: wallet.AvailableBalance, BotID: &b.ID, Expected: 500_030, Found: 7}}
	require.Equal(t, want, checked(t, w, wallet.NewEntries))
	require.Equal(t, want, checked(t, w, wallet.NewEntries))
	w.Exec("DELETE FROM accounts WHERE bot_id = $1", b.ID)
	require.Len(t, checked(t, w, wallet.NewEntries), 2, "the balance and the count")
}

// held reserves the money of a new order, but does not write the order.
func held(t *testing.T, w *graphtest.World, customer, contractor *graphtest.Agent) wallet.Escrow {
	t.Helper()
	e := escrow(customer, contractor, 10, 1)
	require.NoError(t, move(w, wallet.Hold, e))
	return e
}

// Only the daily check finds discrepancies in old entries.
func TestOldEntriesAreCheckedDaily(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	require.Empty(t, checked(t, w, wallet.NewEntries))
	age(w)
	tamper(w, "UPDATE ledger_entries SET delta_minor = 500001 WHERE bot_id = $1", a.ID)
	require.Empty(t, checked(t, w, wallet.NewEntries))
	require.Len(t, checked(t, w, wallet.WholeLedger), 3)
}

// If a process dies during a check, another one continues it, and no finding is lost.
func TestCheckGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	w.Exec("UPDATE accounts SET available_minor = 7 WHERE bot_id = $1", a.ID)
	for _, scope := range wallet.Scopes() {
		found, over, err := w.Wallet.ContinueCheck(context.Background(), scope)
		require.NoError(t, err)
		require.False(t, over)
		require.Len(t, found, 1)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_checks WHERE scope = $1 AND position = $2 AND found -> 'counted' ? 'available_balance'", scope, a.ID))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = w.Wallet.ContinueCheck(ended, scope)
		require.Error(t, err)
		require.Empty(t, checked(t, w, scope), "the slice is not looked at again")
	}
	values := graphtest.Got(w.Wallet.Metrics(t.Context()))(t)
	require.Contains(t, values, metrics.Value{Name: "stoa_ledger_discrepancies", Value: 1, Labels: []string{"available_balance"}})
	require.Len(t, values, len(wallet.Checks())+len(wallet.Scopes()))
}

// Without the triggers old entries may change, so a check of new entries alone proves nothing.
func TestTriggersThatAreOffAreFound(t *testing.T) {
	t.Parallel()
	for _, trigger := range []string{"ledger_entries_append_only", "ledger_entries_balanced"} {
		w := graphtest.New(t)
		w.Exec(fmt.Sprintf("ALTER TABLE ledger_entries DISABLE TRIGGER %s", trigger))
		want := []wallet.Discrepancy{{Check: wallet.LedgerTriggers, Expected: 2, Found: 1}}
		for _, scope := range wallet.Scopes() {
			require.Equal(t, want, checked(t, w, scope))
		}
		found := graphtest.Got(w.Wallet.Reconcile(t.Context()))(t)
		require.Equal(t, want, found)
	}
}
