package wallet_test

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

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
	entries, err := strconv.Atoi(cmp.Or(os.Getenv("STOA_BENCH_LEDGER_ENTRIES"), "20000"))
	require.NoError(b, err)
	const each = 100 // entries a wallet
	agents := max(entries/2/each, 1)
	w := graphtest.New(b)
	plain := db.Patient(context.Background())
	seed := func(statement string, args ...any) {
		_, err := w.DB.SQL.ExecContext(plain, statement, args...)
		require.NoError(b, err)
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
