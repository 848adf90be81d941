package wallet_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// The database enforces the rules of the ledger, for every program that writes to it.
func TestDatabaseRefusesWhatIsNoLedger(t *testing.T) {
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
