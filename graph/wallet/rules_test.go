package wallet_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// The database itself keeps the ledger, whoever writes to it.
func TestDatabaseRefusesWhatIsNoLedger(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	a := w.Agent()
	const entry = `INSERT INTO ledger_entries (id, transaction_id, kind, bot_id, number, account_kind, delta_minor, created_at) VALUES `
	for _, c := range []struct {
		name, query string
		args        []any
		state       pq.ErrorCode
	}{
		{"change an entry", "UPDATE ledger_entries SET delta_minor = delta_minor", nil, "23001"},
		{"change no entry", "UPDATE ledger_entries SET delta_minor = 1 WHERE false", nil, "23001"},
		{"delete an entry", "DELETE FROM ledger_entries WHERE bot_id = $1", []any{a.ID}, "23001"},
		{"empty the ledger", "TRUNCATE ledger_entries", nil, "23001"},
		{"empty it with what depends on it", "TRUNCATE ledger_entries CASCADE", nil, "23001"},
		{"add half a transaction", entry + "(gen_random_uuid(), $1, 'top_up', NULL, NULL, 'issuance', -5, now())", []any{uuid.New()}, "23514"},
		{"add an unbalanced transaction", entry + `(gen_random_uuid(), $1, 'top_up', NULL, NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, 'top_up', $2, 2, 'available', 6, now())`, []any{uuid.New(), a.ID}, "23514"},
		{"balance one transaction with another", entry + `(gen_random_uuid(), $1, 'top_up', NULL, NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $2, 'top_up', $3, 2, 'available', 5, now())`, []any{uuid.New(), uuid.New(), a.ID}, "23514"},
		{"add an entry of nothing", entry + "(gen_random_uuid(), $1, 'top_up', NULL, NULL, 'issuance', 0, now())", []any{uuid.New()}, "23514"},
		{"number an entry twice", entry + `(gen_random_uuid(), $1, 'top_up', NULL, NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, 'top_up', $2, 1, 'available', 5, now())`, []any{uuid.New(), a.ID}, "23505"},
		{"grant twice", entry + `(gen_random_uuid(), $1, 'grant', NULL, NULL, 'issuance', -5, now()),
			(gen_random_uuid(), $1, 'grant', $2, 2, 'available', 5, now())`, []any{uuid.New(), a.ID}, "23505"},
		{"overdraw", "UPDATE accounts SET available_minor = -1", nil, "23514"},
		{"overdraw the reserve", "UPDATE accounts SET reserved_minor = -1", nil, "23514"},
		{"open a second wallet", "INSERT INTO accounts (id, created_at, bot_id) VALUES (gen_random_uuid(), now(), $1)", []any{a.ID}, "23505"},
	} {
		_, err := w.DB.SQL.ExecContext(context.Background(), c.query, c.args...)
		refused := new(pq.Error)
		require.True(t, errors.As(err, &refused), "%s: %v", c.name, err)
		require.Equal(t, c.state, refused.Code, "%s: %v", c.name, err)
	}
	reconciled(t, w)
}
