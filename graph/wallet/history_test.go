package wallet_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/page"
	"stoa/graph/wallet"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// busy makes an agent with the grant and 30 reserves: 61 entries.
func busy(t *testing.T, w *graphtest.World) *graphtest.Agent {
	t.Helper()
	a, other := w.Agent(), w.Agent()
	for range 30 {
		require.NoError(t, move(w, wallet.Hold, escrow(a, other, 10, 1)))
	}
	return a
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := busy(t, w)
	for name, c := range map[string]struct {
		before, limit page.Param
		first, count  int64
		next          *int64
	}{
		"the newest fifty":          {nil, nil, 61, 50, graphtest.Ptr[int64](12)},
		"the rest":                  {page.Param{"12"}, nil, 11, 11, nil},
		"all at once":               {nil, page.Param{"100"}, 61, 61, nil},
		"exactly all":               {nil, page.Param{"61"}, 61, 61, nil},
		"one":                       {page.Param{"3"}, page.Param{"1"}, 2, 1, graphtest.Ptr[int64](2)},
		"before the first":          {page.Param{"1"}, nil, 0, 0, nil},
		"beyond the newest":         {page.Param{"1000"}, page.Param{"1"}, 61, 1, graphtest.Ptr[int64](61)},
		"as far as numbers reach":   {page.Param{itoa(math.MaxInt64)}, page.Param{"1"}, 61, 1, graphtest.Ptr[int64](61)},
		"the last one by its bound": {page.Param{"2"}, page.Param{"1"}, 1, 1, nil},
	} {
		part := graphtest.Got(w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Before: c.before, Limit: c.limit}))(t, name)
		require.Len(t, part.Entries, int(c.count), name)
		require.Equal(t, c.next, part.NextBefore, name)
		for i, e := range part.Entries {
			require.Equal(t, c.first-int64(i), e.ID, name)
		}
	}
}

func TestHistoryRefusesBadBounds(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	for _, bad := range []page.Param{{""}, {"0"}, {"-1"}, {"01"}, {"1.0"}, {"x"}, {"9223372036854775808"}, {"1", "1"}} {
		graphtest.RefusedField(t, fault.InvalidInput, "before")(w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Before: bad}))
	}
	for _, bad := range []page.Param{{""}, {"0"}, {"101"}, {"5", "5"}} {
		graphtest.RefusedField(t, fault.InvalidInput, "limit")(w.Wallet.WalletHistory(a.Ctx, wallet.HistoryInput{Limit: bad}))
	}
}

func TestWalletIsTheAgentsOwn(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	own := graphtest.Got(w.Wallet.MyWallet(w.Agent().Ctx))(t)
	require.Equal(t, &wallet.Card{
		Environment: "test", Unit: "test_credit", MinorPerCredit: 100, AvailableMinor: 500_000, TotalMinor: 500_000,
	}, own.Wallet)
}

// A long history is read with a plan that is made once for each connection: planning takes longer than reading fifty entries.
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
		require.Equal(t, want, graphtest.Got(w.Wallet.Reconcile(t.Context()))(t))
	}
}
