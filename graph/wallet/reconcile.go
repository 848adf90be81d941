package wallet

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
)

// Check names one of the ledger's invariants.
type Check string

// The invariants that Reconcile looks at.
const (
	// LedgerBalance: all entries sum to zero.
	LedgerBalance Check = "ledger_balance"
	// TransactionBalance: the entries of each transaction sum to zero.
	TransactionBalance Check = "transaction_balance"
	// AvailableBalance and ReservedBalance: a balance is the sum of its entries.
	AvailableBalance Check = "available_balance"
	ReservedBalance  Check = "reserved_balance"
	// EntryCount: a wallet counts its entries.
	EntryCount Check = "entry_count"
	// EntryNumbers: an agent's entries are numbered from 1 without a gap.
	EntryNumbers Check = "entry_numbers"
	// OrderReserve: a reserved balance is the total of the customer's orders that hold money.
	OrderReserve Check = "order_reserve"
)

// Discrepancy is one place where the books are wrong.
type Discrepancy struct {
	Check Check
	// BotID or TransactionID says where; neither is set for the ledger as a whole.
	BotID         *uuid.UUID
	TransactionID *uuid.UUID
	// Expected and Found are minor units, or numbers of entries.
	Expected, Found int64
}

// discrepanciesPerCheck bounds what one check reports: the first ones tell what is wrong, millions would not tell more.
const discrepanciesPerCheck = 100

// reconcileTimeout is what one check may take; it reads whole tables, unlike everything that an agent waits for.
const reconcileTimeout = "SET LOCAL statement_timeout = '15min'"

// checks find discrepancies as rows of bot_id, transaction_id, expected and found.
var checks = []struct {
	check Check
	query string
}{
	{LedgerBalance, `
SELECT NULL::uuid AS bot_id, NULL::uuid AS transaction_id, 0, sum(delta_minor)::bigint FROM ledger_entries HAVING sum(delta_minor) <> 0`},
	{TransactionBalance, `
SELECT NULL::uuid, transaction_id, 0, sum(delta_minor)::bigint FROM ledger_entries
GROUP BY transaction_id HAVING sum(delta_minor) <> 0 ORDER BY transaction_id`},
	{AvailableBalance, balance("available")},
	{ReservedBalance, balance("reserved")},
	{EntryCount, `
SELECT coalesce(a.bot_id, e.bot_id), NULL::uuid, coalesce(e.entries, 0), coalesce(a.entry_count, 0)
FROM accounts a FULL JOIN (SELECT bot_id, count(*) AS entries FROM ledger_entries WHERE bot_id IS NOT NULL GROUP BY bot_id) e USING (bot_id)
WHERE coalesce(e.entries, 0) <> coalesce(a.entry_count, 0) ORDER BY 1`},
	{EntryNumbers, `
SELECT bot_id, NULL::uuid, count(*), max(number) FROM ledger_entries WHERE bot_id IS NOT NULL
GROUP BY bot_id HAVING min(number) <> 1 OR max(number) <> count(*) OR count(DISTINCT number) <> count(*) ORDER BY bot_id`},
	{OrderReserve, `
SELECT coalesce(a.bot_id, o.bot_id), NULL::uuid, coalesce(o.total, 0), coalesce(a.reserved_minor, 0)
FROM accounts a FULL JOIN (
  SELECT customer_id AS bot_id, sum(total_minor)::bigint AS total FROM orders
  WHERE state IN ('funded', 'in_progress', 'delivered', 'disputed') GROUP BY customer_id) o USING (bot_id)
WHERE coalesce(o.total, 0) <> coalesce(a.reserved_minor, 0) ORDER BY 1`},
}

// Checks lists the invariants in the order in which Reconcile looks at them.
func Checks() []Check {
	names := make([]Check, len(checks))
	for i, c := range checks {
		names[i] = c.check
	}
	return names
}

// balance compares one of the two balances of every wallet with the sum of its entries.
func balance(account string) string {
	return `
SELECT coalesce(a.bot_id, e.bot_id), NULL::uuid, coalesce(e.total, 0), coalesce(a.` + account + `_minor, 0)
FROM accounts a FULL JOIN (
  SELECT bot_id, sum(delta_minor)::bigint AS total FROM ledger_entries WHERE account_kind = '` + account + `' GROUP BY bot_id) e USING (bot_id)
WHERE coalesce(e.total, 0) <> coalesce(a.` + account + `_minor, 0) ORDER BY 1`
}

// Reconcile reads the whole ledger in one snapshot and reports where an invariant does not hold, at most 100 discrepancies a
// check; none is what a sound database gives. It changes nothing and locks nothing. It is for a periodic job and for operators.
func (a *API) Reconcile(ctx context.Context) ([]Discrepancy, error) {
	tx, err := a.DB.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	if _, err := tx.ExecContext(ctx, reconcileTimeout); err != nil {
		return nil, err
	}
	var all []Discrepancy
	for _, c := range checks {
		found, err := run(ctx, tx, c.check, c.query)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func run(ctx context.Context, tx *sql.Tx, check Check, query string) ([]Discrepancy, error) {
	rows, err := tx.QueryContext(ctx, query+" LIMIT $1", discrepanciesPerCheck)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Discrepancy
	for rows.Next() {
		d := Discrepancy{Check: check}
		if err := rows.Scan(&d.BotID, &d.TransactionID, &d.Expected, &d.Found); err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, rows.Err()
}
