-- The check of the ledger (§2.5). It walks over tables in slices of ids: a statement …_end returns the id at which the slice
-- after :after ends, or no row if it is the last slice; the other statement of a walk returns the discrepancies in the slice
-- after :after up to :until. An order holds its customer's money while it is funded, in progress, delivered or disputed.

-- text: sums
-- The sums and counts of an agent's entries.
coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'available'), 0)::bigint AS available,
coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'reserved'), 0)::bigint AS reserved,
count(*) AS entries, coalesce(min(number), 0) AS first, coalesce(max(number), 0) AS last, count(DISTINCT number) AS numbers

-- text: wallets_wrong
-- Compares wallets with their entries and orders: s has a row for each wallet, with the found and the expected values.
SELECT c.invariant, s.bot_id, NULL::uuid AS transaction_id, c.expected, c.found
FROM s CROSS JOIN LATERAL (VALUES
  ('available_balance', s.available, s.available_minor, s.available <> s.available_minor),
  ('reserved_balance', s.reserved, s.reserved_minor, s.reserved <> s.reserved_minor),
  ('entry_count', s.entries, s.entry_count, s.entries <> s.entry_count),
  ('entry_numbers', s.entries, s.last, s.last <> s.entries OR s.unnumbered),
  ('order_reserve', s.held, s.reserved_minor, s.held <> s.reserved_minor)
) AS c (invariant, expected, found, wrong) WHERE c.wrong ORDER BY s.bot_id LIMIT 1000

-- text: transactions_wrong
-- s has a row for each transaction, with the total of its entries. Each total is zero, and so is their sum.
SELECT 'ledger_balance' AS invariant, NULL::uuid AS bot_id, NULL::uuid AS transaction_id,
  0 AS expected, sum(total)::bigint AS found
FROM s HAVING sum(total) <> 0
UNION ALL
(SELECT 'transaction_balance', NULL, transaction_id, 0, total FROM s WHERE total <> 0 ORDER BY transaction_id LIMIT 100)

-- text: customers_without_reserve
-- The end of a statement: it selects the customers t whose orders hold money but who have no reserve.
LEFT JOIN accounts a ON a.bot_id = t.customer_id AND a.reserved_minor > 0
CROSS JOIN LATERAL (
  SELECT coalesce(sum(total_minor), 0)::bigint AS total
  FROM orders WHERE customer_id = t.customer_id AND state IN ('funded', 'in_progress', 'delivered', 'disputed')
) h
WHERE a.bot_id IS NULL AND h.total <> 0 ORDER BY t.customer_id LIMIT 1000

-- text: reserve_missing
-- The columns of a customer t whose orders hold h.total.
'order_reserve' AS invariant, t.customer_id AS bot_id, NULL::uuid AS transaction_id, h.total AS expected, 0 AS found

-- The whole ledger.

-- name: wallets_end(after uuid)
-- A slice has at most 2000 wallets with 100000 entries together, but at least one wallet.
/* plan per value */
SELECT bot_id FROM (
  SELECT a.bot_id, row_number() OVER w AS n, sum(a.entry_count) OVER w AS unread
  FROM (SELECT * FROM accounts WHERE bot_id > :after ORDER BY bot_id LIMIT 2000) a
  WINDOW w AS (ORDER BY a.bot_id)
) s WHERE n = 1 OR unread <= 100000 ORDER BY bot_id DESC LIMIT 1;

-- name: wallets_discrepancies(after uuid, until uuid)
-- An agent's wallet is compared with the sums of its entries and with the total of its orders.
/* plan per value */
WITH entries AS (
  SELECT bot_id, :sums
  FROM ledger_entries WHERE bot_id > :after AND bot_id <= :until GROUP BY bot_id
), held AS (
  SELECT customer_id AS bot_id, sum(total_minor)::bigint AS total
  FROM orders
  WHERE customer_id > :after AND customer_id <= :until AND state IN ('funded', 'in_progress', 'delivered', 'disputed')
  GROUP BY customer_id
), wallets AS (
  SELECT * FROM accounts WHERE bot_id > :after AND bot_id <= :until
), s AS (
  SELECT bot_id, coalesce(w.available_minor, 0) AS available_minor, coalesce(w.reserved_minor, 0) AS reserved_minor,
    coalesce(w.entry_count, 0) AS entry_count, coalesce(e.available, 0) AS available, coalesce(e.reserved, 0) AS reserved,
    coalesce(e.entries, 0) AS entries, coalesce(e.last, 0) AS last,
    coalesce(e.first <> 1 OR e.numbers <> e.entries, false) AS unnumbered, coalesce(h.total, 0) AS held
  FROM wallets w FULL JOIN entries e USING (bot_id) FULL JOIN held h USING (bot_id)
)
:wallets_wrong;

-- name: transactions_end(after uuid)
/* plan per value */
SELECT transaction_id FROM (
  SELECT transaction_id FROM ledger_entries WHERE transaction_id > :after ORDER BY transaction_id LIMIT 100000
) s ORDER BY transaction_id DESC LIMIT 1;

-- name: transactions_discrepancies(after uuid, until uuid)
-- The entries of a transaction sum to zero, and so do all entries of the ledger; a slice returns its part of that sum.
/* plan per value */
WITH s AS (
  SELECT transaction_id, sum(delta_minor)::bigint AS total FROM ledger_entries
  WHERE transaction_id > :after AND transaction_id <= :until GROUP BY transaction_id
)
:transactions_wrong;

-- The rows since the last check, and every wallet: the entries after a wallet's checkpoint are added to it.

-- name: new_wallets_end(after uuid)
/* plan per value */
SELECT bot_id FROM (
  SELECT a.bot_id, row_number() OVER w AS n, sum(greatest(a.entry_count - coalesce(m.number, 0), 0)) OVER w AS unread
  FROM (SELECT * FROM accounts WHERE bot_id > :after ORDER BY bot_id LIMIT 2000) a LEFT JOIN ledger_checkpoints m USING (bot_id)
  WINDOW w AS (ORDER BY a.bot_id)
) s WHERE n = 1 OR unread <= 100000 ORDER BY bot_id DESC LIMIT 1;

-- name: new_wallets_discrepancies(after uuid, until uuid)
-- Moves the checkpoints of sound wallets forward.
/* plan per value */
WITH changed AS (
  SELECT bot_id, coalesce(w.available_minor, 0) AS available_minor, coalesce(w.reserved_minor, 0) AS reserved_minor,
    coalesce(w.entry_count, 0) AS entry_count,
    coalesce(m.available_minor, 0) AS available, coalesce(m.reserved_minor, 0) AS reserved, coalesce(m.number, 0) AS number
  FROM (SELECT * FROM accounts WHERE bot_id > :after AND bot_id <= :until) w
  FULL JOIN (SELECT * FROM ledger_checkpoints WHERE bot_id > :after AND bot_id <= :until) m USING (bot_id)
  WHERE w.reserved_minor > 0
    OR (w.entry_count, w.available_minor, w.reserved_minor) IS DISTINCT FROM (m.number, m.available_minor, m.reserved_minor)
), s AS MATERIALIZED (
  SELECT c.bot_id, c.available_minor, c.reserved_minor, c.entry_count, c.available + e.available AS available,
    c.reserved + e.reserved AS reserved, c.number + e.entries AS entries, greatest(c.number, e.last) AS last,
    e.entries > 0 AND (e.first <> c.number + 1 OR e.numbers <> e.entries) AS unnumbered, h.total AS held
  FROM changed c CROSS JOIN LATERAL (
    SELECT :sums
    FROM ledger_entries WHERE bot_id = c.bot_id AND number > c.number
  ) e CROSS JOIN LATERAL (
    SELECT coalesce(sum(total_minor), 0)::bigint AS total
    FROM orders
    WHERE c.reserved_minor > 0 AND customer_id = c.bot_id AND state IN ('funded', 'in_progress', 'delivered', 'disputed')
  ) h
), sound AS (
  INSERT INTO ledger_checkpoints AS m (bot_id, number, available_minor, reserved_minor)
  SELECT bot_id, entries, available, reserved FROM s
  WHERE (available, reserved, entries, last) = (available_minor, reserved_minor, entry_count, entries) AND NOT unnumbered
  ON CONFLICT (bot_id) DO UPDATE
    SET number = excluded.number, available_minor = excluded.available_minor, reserved_minor = excluded.reserved_minor
    WHERE m.number <> excluded.number
)
:wallets_wrong;

-- name: new_entries_end(after uuid)
/* plan per value */
SELECT id FROM (SELECT id FROM ledger_entries WHERE id > :after ORDER BY id LIMIT 20000) s ORDER BY id DESC LIMIT 1;

-- name: new_transactions_discrepancies(after uuid, until uuid)
/* plan per value */
WITH s AS MATERIALIZED (
  SELECT t.transaction_id, e.total
  FROM (SELECT DISTINCT transaction_id FROM ledger_entries WHERE id > :after AND id <= :until) t
  CROSS JOIN LATERAL (SELECT sum(delta_minor)::bigint AS total FROM ledger_entries WHERE transaction_id = t.transaction_id) e
)
:transactions_wrong;

-- name: new_entries_without_wallet(after uuid, until uuid)
-- The walk over wallets does not see the entries of agents that have neither a wallet nor a checkpoint.
/* plan per value */
WITH s AS (
  SELECT b.bot_id, 0::bigint AS available_minor, 0::bigint AS reserved_minor, 0::bigint AS entry_count, e.available, e.reserved,
    e.entries, e.last, e.first <> 1 OR e.numbers <> e.entries AS unnumbered, 0::bigint AS held
  FROM (
    SELECT DISTINCT bot_id FROM ledger_entries l WHERE id > :after AND id <= :until AND bot_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM accounts a WHERE a.bot_id = l.bot_id)
      AND NOT EXISTS (SELECT FROM ledger_checkpoints m WHERE m.bot_id = l.bot_id)
  ) b CROSS JOIN LATERAL (
    SELECT :sums
    FROM ledger_entries WHERE bot_id = b.bot_id
  ) e
)
:wallets_wrong;

-- name: new_orders_end(after uuid)
/* plan per value */
SELECT id FROM (SELECT id FROM orders WHERE id > :after ORDER BY id LIMIT 20000) s ORDER BY id DESC LIMIT 1;

-- name: new_orders_discrepancies(after uuid, until uuid)
-- The walk over wallets skips customers without a reserve.
/* plan per value */
SELECT :reserve_missing
FROM (
  SELECT DISTINCT customer_id FROM orders WHERE id > :after AND id <= :until
) t
:customers_without_reserve;

-- name: new_order_events_end(after uuid)
/* plan per value */
SELECT id FROM (SELECT id FROM order_events WHERE id > :after ORDER BY id LIMIT 20000) s ORDER BY id DESC LIMIT 1;

-- name: new_order_events_discrepancies(after uuid, until uuid)
-- Like new_orders_discrepancies, for older orders that have changed.
/* plan per value */
SELECT :reserve_missing
FROM (
  SELECT DISTINCT o.customer_id FROM order_events e JOIN orders o ON o.id = e.order_id WHERE e.id > :after AND e.id <= :until
) t
:customers_without_reserve;

-- name: disabled_triggers()
-- The triggers on which a check of only new entries relies.
SELECT 'ledger_triggers' AS invariant, NULL::uuid AS bot_id, NULL::uuid AS transaction_id, 2 AS expected, count(*) AS found
FROM pg_trigger
WHERE tgrelid = 'ledger_entries'::regclass AND tgname IN ('ledger_entries_append_only', 'ledger_entries_balanced')
  AND tgenabled IN ('O', 'A')
HAVING count(*) <> 2;

-- The progress of checks.

-- name: lock_progress(scope text, every_seconds double precision)
-- now is not stoa_now(): ids contain the true time.
SELECT began_at IS NOT NULL AS running, phase, position, since, next_since, found,
  coalesce(last_began_at <= stoa_now() - make_interval(secs => :every_seconds), true) AS due, now() AS now
FROM ledger_checks WHERE scope = :scope FOR UPDATE;

-- name: save_progress(scope text, phase integer, position uuid, next_since uuid, found jsonb)
UPDATE ledger_checks
SET began_at = coalesce(began_at, stoa_now()), phase = :phase, position = :position, next_since = :next_since, found = :found
WHERE scope = :scope;

-- name: end_check(scope text, since uuid, found jsonb)
UPDATE ledger_checks SET last_began_at = coalesce(began_at, stoa_now()), last_ended_at = stoa_now(), last_found = :found,
  since = :since, began_at = NULL, phase = 0, position = DEFAULT, found = DEFAULT
WHERE scope = :scope;

-- name: record_check(scope text, found jsonb)
-- The result of a check that kept no progress. A running check goes on, and the next one is due as before.
UPDATE ledger_checks SET last_ended_at = stoa_now(), last_found = :found WHERE scope = :scope;

-- name: ledger_metrics(checks text[])
-- When each scope was last checked, and how often each check found a discrepancy: in the last check of a scope, or so far in a
-- running one. No row before the first check.
SELECT 'stoa_ledger_reconciled_timestamp_seconds' AS name, c.scope AS label, extract(epoch FROM c.last_ended_at)::float8 AS value
FROM ledger_checks c WHERE c.last_ended_at IS NOT NULL
UNION ALL
SELECT 'stoa_ledger_discrepancies', k.name, coalesce((
  SELECT max(greatest((c.last_found -> 'counted' ->> k.name)::float8, (c.found -> 'counted' ->> k.name)::float8)) FROM ledger_checks c), 0)
FROM unnest(:checks::text[]) AS k (name)
WHERE EXISTS (SELECT FROM ledger_checks c WHERE c.last_ended_at IS NOT NULL OR c.began_at IS NOT NULL);
