package wallet

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/db/prepared"
)

// sliceTimeout is what one slice may take; usual is a second.
const sliceTimeout = 5 * time.Minute

// lastID is behind every id.
var lastID = uuid.Max

// phase is one walk over a table in slices. A slice is one statement, and so one snapshot: a wallet is compared with entries and
// orders of the same moment, whatever is written meanwhile.
type phase struct {
	// until finds the id at which the slice behind $1 ends, no row where nothing more comes.
	until string
	// find looks at the slice behind $1 up to $2 and returns the discrepancies there: check, bot_id, transaction_id, expected, found.
	find string
	// fresh: the walk begins at what is new (ledger_checks.since) instead of at the first row.
	fresh bool
}

// The sizes of slices, in rows.
const (
	walletsPerSlice = "2000"
	entriesPerSlice = "100000"
	freshPerSlice   = "20000"
)

// walletsUntil ends a slice of wallets where they have [entriesPerSlice] entries to be read, or behind one wallet that has more.
const walletsUntil = `
SELECT bot_id FROM (
  SELECT a.bot_id, row_number() OVER w AS n, sum([unread]) OVER w AS unread
  FROM (SELECT * FROM accounts WHERE bot_id > $1 ORDER BY bot_id LIMIT ` + walletsPerSlice + `) a [marked]
  WINDOW w AS (ORDER BY a.bot_id)
) s WHERE n = 1 OR unread <= ` + entriesPerSlice + ` ORDER BY bot_id DESC LIMIT 1`

// holding are the states in which an order holds its customer's money.
const holding = `state IN ('funded', 'in_progress', 'delivered', 'disputed')`

// sums are what the entries of an agent come to.
const sums = `
    coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'available'), 0)::bigint AS available,
    coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'reserved'), 0)::bigint AS reserved,
    count(*) AS entries, coalesce(min(number), 0) AS first, coalesce(max(number), 0) AS last, count(DISTINCT number) AS numbers`

// mismatches makes the discrepancies of rows s: an agent's wallet beside the sums of its entries and the total of its orders.
const mismatches = `
SELECT c.name, s.bot_id, NULL::uuid AS transaction_id, c.expected, c.found
FROM s CROSS JOIN LATERAL (VALUES
  ('available_balance', s.available, s.available_minor, s.available <> s.available_minor),
  ('reserved_balance', s.reserved, s.reserved_minor, s.reserved <> s.reserved_minor),
  ('entry_count', s.entries, s.entry_count, s.entries <> s.entry_count),
  ('entry_numbers', s.entries, s.last, s.last <> s.entries OR s.unnumbered),
  ('order_reserve', s.held, s.reserved_minor, s.held <> s.reserved_minor)
) AS c (name, expected, found, wrong) WHERE c.wrong ORDER BY s.bot_id LIMIT 1000`

// whole are the phases that read every entry and every order.
var whole = []phase{
	{until: strings.NewReplacer("[unread]", "a.entry_count", "[marked]", "").Replace(walletsUntil), find: `
WITH entries AS (
  SELECT bot_id, ` + sums + `
  FROM ledger_entries WHERE bot_id > $1 AND bot_id <= $2 GROUP BY bot_id
), held AS (
  SELECT customer_id AS bot_id, sum(total_minor)::bigint AS total
  FROM orders WHERE customer_id > $1 AND customer_id <= $2 AND ` + holding + ` GROUP BY customer_id
), wallets AS (
  SELECT * FROM accounts WHERE bot_id > $1 AND bot_id <= $2
), s AS (
  SELECT bot_id, coalesce(w.available_minor, 0) AS available_minor, coalesce(w.reserved_minor, 0) AS reserved_minor,
    coalesce(w.entry_count, 0) AS entry_count, coalesce(e.available, 0) AS available, coalesce(e.reserved, 0) AS reserved,
    coalesce(e.entries, 0) AS entries, coalesce(e.last, 0) AS last, coalesce(e.first <> 1 OR e.numbers <> e.entries, false) AS unnumbered,
    coalesce(h.total, 0) AS held
  FROM wallets w FULL JOIN entries e USING (bot_id) FULL JOIN held h USING (bot_id)
)` + mismatches},
	{until: `SELECT transaction_id FROM (
  SELECT transaction_id FROM ledger_entries WHERE transaction_id > $1 ORDER BY transaction_id LIMIT ` + entriesPerSlice + `
) s ORDER BY transaction_id DESC LIMIT 1`, find: `
WITH s AS (
  SELECT transaction_id, sum(delta_minor)::bigint AS total FROM ledger_entries
  WHERE transaction_id > $1 AND transaction_id <= $2 GROUP BY transaction_id
)` + unbalanced},
}

// unbalanced makes the discrepancies of rows s, transactions with their totals.
const unbalanced = `
SELECT 'ledger_balance', NULL::uuid AS bot_id, NULL::uuid AS transaction_id, 0 AS expected, sum(total)::bigint FROM s HAVING sum(total) <> 0
UNION ALL
(SELECT 'transaction_balance', NULL, transaction_id, 0, total FROM s WHERE total <> 0 ORDER BY transaction_id LIMIT 100)`

// fresh are the phases that read what came since the last check, and every wallet: what is behind a wallet's checkpoint is added to it.
var fresh = []phase{
	{until: strings.NewReplacer("[unread]", "greatest(a.entry_count - coalesce(m.number, 0), 0)",
		"[marked]", "LEFT JOIN ledger_checkpoints m USING (bot_id)").Replace(walletsUntil), find: `
WITH changed AS (
  SELECT bot_id, coalesce(w.available_minor, 0) AS available_minor, coalesce(w.reserved_minor, 0) AS reserved_minor,
    coalesce(w.entry_count, 0) AS entry_count,
    coalesce(m.available_minor, 0) AS available, coalesce(m.reserved_minor, 0) AS reserved, coalesce(m.number, 0) AS number
  FROM (SELECT * FROM accounts WHERE bot_id > $1 AND bot_id <= $2) w
  FULL JOIN (SELECT * FROM ledger_checkpoints WHERE bot_id > $1 AND bot_id <= $2) m USING (bot_id)
  WHERE w.reserved_minor > 0
    OR (w.entry_count, w.available_minor, w.reserved_minor) IS DISTINCT FROM (m.number, m.available_minor, m.reserved_minor)
), s AS MATERIALIZED (
  SELECT c.bot_id, c.available_minor, c.reserved_minor, c.entry_count, c.available + e.available AS available,
    c.reserved + e.reserved AS reserved, c.number + e.entries AS entries, greatest(c.number, e.last) AS last,
    e.entries > 0 AND (e.first <> c.number + 1 OR e.numbers <> e.entries) AS unnumbered, h.total AS held
  FROM changed c
  CROSS JOIN LATERAL (SELECT ` + sums + ` FROM ledger_entries WHERE bot_id = c.bot_id AND number > c.number) e
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(total_minor), 0)::bigint AS total
    FROM orders WHERE c.reserved_minor > 0 AND customer_id = c.bot_id AND ` + holding + `) h
), sound AS (
  INSERT INTO ledger_checkpoints AS m (bot_id, number, available_minor, reserved_minor)
  SELECT bot_id, entries, available, reserved FROM s
  WHERE (available, reserved, entries, last) = (available_minor, reserved_minor, entry_count, entries) AND NOT unnumbered
  ON CONFLICT (bot_id) DO UPDATE SET number = excluded.number, available_minor = excluded.available_minor, reserved_minor = excluded.reserved_minor
    WHERE m.number <> excluded.number
)` + mismatches},
	{fresh: true, until: freshUntil("ledger_entries"), find: `
WITH s AS MATERIALIZED (
  SELECT t.transaction_id, e.total FROM (SELECT DISTINCT transaction_id FROM ledger_entries WHERE id > $1 AND id <= $2) t
  CROSS JOIN LATERAL (SELECT sum(delta_minor)::bigint AS total FROM ledger_entries WHERE transaction_id = t.transaction_id) e
)` + unbalanced},
	{fresh: true, until: freshUntil("ledger_entries"), find: `
WITH s AS (
  SELECT b.bot_id, 0::bigint AS available_minor, 0::bigint AS reserved_minor, 0::bigint AS entry_count, e.available, e.reserved, e.entries,
    e.last, e.first <> 1 OR e.numbers <> e.entries AS unnumbered, 0::bigint AS held
  FROM (SELECT DISTINCT bot_id FROM ledger_entries l WHERE id > $1 AND id <= $2 AND bot_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM accounts a WHERE a.bot_id = l.bot_id)
    AND NOT EXISTS (SELECT FROM ledger_checkpoints m WHERE m.bot_id = l.bot_id)) b
  CROSS JOIN LATERAL (SELECT ` + sums + ` FROM ledger_entries WHERE bot_id = b.bot_id) e
)` + mismatches},
	{fresh: true, until: freshUntil("orders"), find: strings.ReplaceAll(reserves, "[touched]",
		`SELECT customer_id FROM orders WHERE id > $1 AND id <= $2`)},
	{fresh: true, until: freshUntil("order_events"), find: strings.ReplaceAll(reserves, "[touched]",
		`SELECT o.customer_id FROM order_events e JOIN orders o ON o.id = e.order_id WHERE e.id > $1 AND e.id <= $2`)},
}

// reserves compares the wallets of the customers of [touched] orders that the first phase passed over: those without a reserve.
const reserves = `
SELECT 'order_reserve', t.customer_id, NULL::uuid AS transaction_id, h.total, 0
FROM (SELECT DISTINCT customer_id FROM ([touched]) o) t
LEFT JOIN accounts a ON a.bot_id = t.customer_id AND a.reserved_minor > 0
CROSS JOIN LATERAL (SELECT coalesce(sum(total_minor), 0)::bigint AS total FROM orders WHERE customer_id = t.customer_id AND ` + holding + `) h
WHERE a.bot_id IS NULL AND h.total <> 0 ORDER BY t.customer_id LIMIT 1000`

func freshUntil(table string) string {
	return `SELECT id FROM (SELECT id FROM ` + table + ` WHERE id > $1 ORDER BY id LIMIT ` + freshPerSlice + `) s ORDER BY id DESC LIMIT 1`
}

// triggers finds those switched off or gone, on which checking only new entries relies.
const triggers = `
SELECT 'ledger_triggers', NULL::uuid AS bot_id, NULL::uuid AS transaction_id, 2, count(*) FROM pg_trigger
WHERE tgrelid = 'ledger_entries'::regclass AND tgname IN ('ledger_entries_append_only', 'ledger_entries_balanced') AND tgenabled IN ('O', 'A')
HAVING count(*) <> 2`

// slice looks at what is behind an id, and returns where it came to; uuid.Max when the phase is over.
func (p phase) slice(ctx context.Context, on db.Querier, after uuid.UUID) (until uuid.UUID, found []Discrepancy, err error) {
	until = lastID
	if after == lastID {
		return until, nil, nil
	}
	switch err := on.QueryRowContext(ctx, prepared.PlanPerValue+p.until, after).Scan(&until); err {
	case nil, sql.ErrNoRows:
	default:
		return until, nil, err
	}
	found, err = discrepancies(ctx, on, prepared.PlanPerValue+p.find, after, until)
	return until, found, err
}

func discrepancies(ctx context.Context, on db.Querier, query string, args ...any) ([]Discrepancy, error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Discrepancy
	for rows.Next() {
		var d Discrepancy
		if err := rows.Scan(&d.Check, &d.BotID, &d.TransactionID, &d.Expected, &d.Found); err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, rows.Err()
}
