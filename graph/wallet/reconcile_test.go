package wallet_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// Each kind of damage is found, named and located. The test disables the triggers that prevent it.
func TestReconcileFindsDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage string // of the agents ADA and BEN
		want   func(w *graphtest.World, ada *uuid.UUID) []wallet.Discrepancy
	}{
		"an entry lost": {"DELETE FROM ledger_entries WHERE bot_id = ADA", func(w *graphtest.World, ada *uuid.UUID) []wallet.Discrepancy {
			return []wallet.Discrepancy{
				{Check: wallet.LedgerBalance, Found: -500_000},
				{Check: wallet.TransactionBalance, TransactionID: unpaired(w), Found: -500_000},
				{Check: wallet.AvailableBalance, BotID: ada, Found: 500_000},
				{Check: wallet.EntryCount, BotID: ada, Found: 1},
			}
		}},
		"an entry's amount changed": {`UPDATE ledger_entries SET delta_minor = 500001
			WHERE bot_id = ADA`, func(w *graphtest.World, ada *uuid.UUID) []wallet.Discrepancy {
			return []wallet.Discrepancy{
				{Check: wallet.LedgerBalance, Found: 1},
				{Check: wallet.TransactionBalance, TransactionID: transactionOf(w, ada), Found: 1},
				{Check: wallet.AvailableBalance, BotID: ada, Expected: 500_001, Found: 500_000},
			}
		}},
		"two wrongs that cancel out": {`UPDATE ledger_entries SET transaction_id = (SELECT transaction_id FROM ledger_entries WHERE bot_id = BEN)
			WHERE bot_id = ADA`, func(w *graphtest.World, ada *uuid.UUID) []wallet.Discrepancy {
			return []wallet.Discrepancy{
				{Check: wallet.TransactionBalance, TransactionID: unpaired(w), Found: -500_000},
				{Check: wallet.TransactionBalance, TransactionID: transactionOf(w, ada), Found: 500_000},
			}
		}},
		"an available balance changed": {"UPDATE accounts SET available_minor = 7 WHERE bot_id = ADA", of(
			wallet.Discrepancy{Check: wallet.AvailableBalance, Expected: 500_000, Found: 7})},
		"a reserved balance changed": {"UPDATE accounts SET reserved_minor = 7 WHERE bot_id = ADA", of(
			wallet.Discrepancy{Check: wallet.ReservedBalance, Found: 7}, wallet.Discrepancy{Check: wallet.OrderReserve, Found: 7})},
		"entries counted wrongly": {"UPDATE accounts SET entry_count = 3 WHERE bot_id = ADA", of(
			wallet.Discrepancy{Check: wallet.EntryCount, Expected: 1, Found: 3})},
		"entries numbered with a gap": {"UPDATE ledger_entries SET number = 2 WHERE bot_id = ADA", of(
			wallet.Discrepancy{Check: wallet.EntryNumbers, Expected: 1, Found: 2})},
		"a wallet lost": {"DELETE FROM accounts WHERE bot_id = ADA", of(
			wallet.Discrepancy{Check: wallet.AvailableBalance, Expected: 500_000}, wallet.Discrepancy{Check: wallet.EntryCount, Expected: 1})},
		"orders without their reserve": {`INSERT INTO orders (id, created_at, customer_id, updated_at, contractor_id, author_id, state, outcome, title, description,
				deadline, amount_minor, fee_minor, total_minor, fee_bps)
			SELECT gen_random_uuid(), now(), ADA, now(), BEN, ADA, state, CASE WHEN state = 'closed' THEN 'accepted' END, 't', 'd', now(), 10, 1, 11, 1000
			FROM unnest(ARRAY['funded', 'in_progress', 'delivered', 'disputed', 'offered', 'cancelled', 'rejected', 'closed']) AS state`, of(
			wallet.Discrepancy{Check: wallet.OrderReserve, Expected: 44})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			a, b := w.Agent(), w.Agent()
			reconciled(t, w)
			w.Exec("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_append_only")
			w.Exec(strings.NewReplacer("ADA", "'"+a.ID.String()+"'", "BEN", "'"+b.ID.String()+"'").Replace(c.damage))
			w.Exec("ALTER TABLE ledger_entries ENABLE TRIGGER ledger_entries_append_only")
			require.Equal(t, c.want(w, &a.ID), graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))
			for _, scope := range wallet.Scopes() {
				require.ElementsMatch(t, c.want(w, &a.ID), checked(t, w, scope), scope)
			}
			require.ElementsMatch(t, c.want(w, &a.ID), checked(t, w, wallet.NewEntries), "it is found again until it is mended")
			require.Empty(t, checked(t, w, wallet.WholeLedger), "it is not due before tomorrow")
			w.Shift(24 * time.Hour)
			require.ElementsMatch(t, c.want(w, &a.ID), checked(t, w, wallet.WholeLedger))
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

// of returns discrepancies of the agent.
func of(all ...wallet.Discrepancy) func(*graphtest.World, *uuid.UUID) []wallet.Discrepancy {
	return func(_ *graphtest.World, agent *uuid.UUID) []wallet.Discrepancy {
		for i := range all {
			all[i].BotID = agent
		}
		return all
	}
}

// transactionOf returns the only transaction of an agent.
func transactionOf(w *graphtest.World, agent *uuid.UUID) *uuid.UUID {
	return one(w, "SELECT transaction_id FROM ledger_entries WHERE bot_id = '"+agent.String()+"'")
}

// unpaired is the transaction of a single entry.
func unpaired(w *graphtest.World) *uuid.UUID {
	return one(w, "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING count(*) = 1")
}

// one is nil unless there is one.
func one(w *graphtest.World, query string) (id *uuid.UUID) {
	_ = w.DB.SQL.Pool.QueryRow(query).Scan(&id)
	return id
}

// seedLedger makes a sound ledger: agents with a grant and top-ups of one minor unit, two entries a transaction. Ids increase,
// like the ids of servers.
const seedLedger = `
WITH agents AS (
  INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
  SELECT (lpad(to_hex(n), 12, '0') || '70008000' || lpad('', 12, '0'))::uuid, now(), now(), 'seed_' || n, 'Seed', sha256(n::text::bytea), now()
  FROM generate_series(1, $1::bigint) n RETURNING id
), wallets AS (
  INSERT INTO accounts (id, created_at, bot_id, available_minor, entry_count) SELECT gen_random_uuid(), now(), id, $2::bigint, $2::bigint FROM agents
)
INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
SELECT (lpad(to_hex(t * 2 + side), 12, '0') || '70008000' || lpad('', 12, '0'))::uuid, now(), (lpad(to_hex(t), 12, '0') || '70008000' || lpad('', 12, '0'))::uuid,
  CASE side WHEN 1 THEN (lpad(to_hex(t % $1 + 1), 12, '0') || '70008000' || lpad('', 12, '0'))::uuid END, CASE side WHEN 1 THEN t / $1 + 1 END,
  CASE side WHEN 1 THEN 'available' ELSE 'issuance' END, 'top_up', 2 * side - 1
FROM generate_series(0, $1 * $2 - 1) t, generate_series(0, 1) side`

// BenchmarkReconcile checks a ledger of STOA_BENCH_LEDGER_ENTRIES entries (20,000 unless set): "first" is the first check of new
// entries, which reads all, "hourly" one that finds a hundredth of the wallets changed, "whole" the daily one. slowest-ms is the
// longest slice.
func BenchmarkReconcile(b *testing.B) {
	entries := graphtest.Got(strconv.Atoi(cmp.Or(os.Getenv("STOA_BENCH_LEDGER_ENTRIES"), "20000")))(b)
	const each = 100 // entries a wallet
	agents := max(entries/2/each, 1)
	w := graphtest.New(b)
	plain := db.Patient(context.Background())
	seed := func(statement string, args ...any) {
		graphtest.OK(b)(w.DB.SQL.ExecContext(plain, statement, args...))
	}
	seed("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_balanced")
	seed(seedLedger, agents, each)
	seed("ALTER TABLE ledger_entries ENABLE TRIGGER ledger_entries_balanced")
	seed("VACUUM ANALYZE")
	run := func(b *testing.B, scope wallet.Scope) {
		b.Helper()
		var slowest time.Duration
		slices := 0
		for over := false; !over; slices++ {
			began := time.Now()
			var (
				found []wallet.Discrepancy
				err   error
			)
			found, over, err = w.Wallet.ContinueCheck(plain, scope)
			require.NoError(b, err)
			require.Empty(b, found)
			slowest = max(slowest, time.Since(began))
		}
		b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
		b.ReportMetric(float64(slices), "slices")
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			w.Exec("TRUNCATE ledger_checkpoints")
			w.Exec("UPDATE ledger_checks SET since = DEFAULT")
			run(b, wallet.NewEntries)
		}
	})
	b.Run("hourly", func(b *testing.B) {
		for b.Loop() {
			seed("DELETE FROM ledger_checkpoints WHERE bot_id IN (SELECT bot_id FROM ledger_checkpoints LIMIT $1)", max(agents/100, 1))
			seed("UPDATE ledger_checks SET since = (SELECT id FROM ledger_entries ORDER BY id DESC OFFSET $1 LIMIT 1)", agents*each/50)
			run(b, wallet.NewEntries)
		}
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			w.Exec("UPDATE ledger_checks SET last_began_at = NULL")
			run(b, wallet.WholeLedger)
		}
	})
}
