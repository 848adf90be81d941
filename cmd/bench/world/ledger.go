package world

import "context"

// insertTransactions adds top-ups of one minor unit to every wallet, $1 each, with two entries a transaction.
const insertTransactions = `
INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
SELECT gen_random_uuid(), now(), transaction_id,
  CASE side WHEN 1 THEN bot_id END, CASE side WHEN 1 THEN entry_count + k END,
  CASE side WHEN 1 THEN 'available' ELSE 'issuance' END, 'top_up', 2 * side - 1
FROM (
  SELECT bot_id, entry_count, k, gen_random_uuid() AS transaction_id
  FROM accounts, generate_series(1, $1::integer) AS k OFFSET 0
) t,
  generate_series(0, 1) AS side`

const updateAccounts = `UPDATE accounts SET available_minor = available_minor + $1::integer, entry_count = entry_count + $1::integer`

// GrowLedger adds top-ups to every wallet until the ledger has at least that number of entries. It returns how many it has then.
// No server may run.
func (w *World) GrowLedger(ctx context.Context, entries int) (int, error) {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after the commit
	var present, wallets int
	const counts = "SELECT (SELECT count(*) FROM ledger_entries), (SELECT count(*) FROM accounts)"
	if err := tx.QueryRowContext(ctx, counts).Scan(&present, &wallets); err != nil {
		return 0, err
	}
	each := (entries - present + 2*wallets - 1) / (2 * wallets)
	if each <= 0 {
		return present, nil
	}
	if _, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off; "+triggers("DISABLE")); err != nil {
		return 0, err
	}
	indexes, err := dropIndexes(ctx, tx, "ledger_entries", "accounts")
	if err != nil {
		return 0, err
	}
	for _, statement := range []string{insertTransactions, updateAccounts} {
		if _, err := tx.ExecContext(ctx, statement, each); err != nil {
			return 0, err
		}
	}
	if _, err := tx.ExecContext(ctx, triggers("ENABLE")); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	if err := w.createIndexes(ctx, indexes); err != nil {
		return 0, err
	}
	return present + 2*each*wallets, w.settle(ctx)
}
