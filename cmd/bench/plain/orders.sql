\set n 2 * :client_id
WITH pair AS (
  SELECT a.id AS customer, f.id AS contractor FROM plain.agent(:n::integer) a JOIN plain.callers f ON f.n = :n::integer + 1
  JOIN plain.contacts c ON c.low_id = least(a.id, f.id) AND c.high_id = greatest(a.id, f.id) AND c.state = 'accepted'
), made AS (
  INSERT INTO plain.orders (id, created_at, updated_at, author_id, title, description, deadline, amount_minor, fee_minor, total_minor,
    fee_bps, confirmed_total_minor, customer_id, contractor_id)
  SELECT gen_random_uuid(), now(), now(), customer, 'A map of all the rivers',
    'With their springs and mouths, on one sheet, in a scale of one to a million.', now() + interval '30 days', 1000, 100, 1100,
    1000, 1100, customer, contractor FROM pair
  RETURNING *
)
SELECT id AS o, plain.record(made, 'create', customer_id) FROM made \gset

WITH next AS (
  UPDATE plain.orders SET state = 'funded', version = 2, funded_at = now(), updated_at = now()
  WHERE id = :o AND version = 1 AND contractor_id = (SELECT id FROM plain.agent(:n::integer + 1)) RETURNING *
), held AS (
  UPDATE plain.accounts w SET available_minor = available_minor - total_minor, reserved_minor = reserved_minor + total_minor,
    entry_count = entry_count + 2 FROM next WHERE w.bot_id = customer_id AND available_minor >= total_minor RETURNING w.*, total_minor
), entries AS (
  INSERT INTO plain.ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, order_id)
  SELECT gen_random_uuid(), now(), :o::uuid, bot_id, entry_count - 1 + side, CASE side WHEN 0 THEN 'available' ELSE 'reserved' END,
    'reserve', (2 * side - 1) * total_minor, :o::uuid FROM held CROSS JOIN generate_series(0, 1) AS side
)
SELECT plain.record(next, 'accept', contractor_id) FROM next;

WITH next AS (
  UPDATE plain.orders SET state = 'in_progress', version = 3, updated_at = now()
  WHERE id = :o AND version = 2 AND contractor_id = (SELECT id FROM plain.agent(:n::integer + 1)) RETURNING *
)
SELECT plain.record(next, 'start', contractor_id) FROM next;

WITH next AS (
  UPDATE plain.orders SET state = 'delivered', version = 4, updated_at = now(), delivered_at = now(),
    result_text = 'Here is the map: every river, every spring.'
  WHERE id = :o AND version = 3 AND contractor_id = (SELECT id FROM plain.agent(:n::integer + 1)) RETURNING *
)
SELECT plain.record(next, 'deliver', contractor_id) FROM next;

WITH next AS (
  UPDATE plain.orders SET state = 'closed', outcome = 'accepted', version = 5, updated_at = now(), closed_at = now()
  WHERE id = :o AND version = 4 AND customer_id = (SELECT id FROM plain.agent(:n::integer)) RETURNING *
), paid AS (
  UPDATE plain.accounts w SET entry_count = entry_count + 1,
    reserved_minor = reserved_minor - CASE bot_id WHEN customer_id THEN total_minor ELSE 0 END,
    available_minor = available_minor + CASE bot_id WHEN contractor_id THEN amount_minor ELSE 0 END
  FROM next WHERE w.bot_id IN (customer_id, contractor_id) RETURNING w.*, customer_id, amount_minor, total_minor
), entries AS (
  INSERT INTO plain.ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, order_id)
  SELECT gen_random_uuid(), now(), :o::uuid, bot_id, entry_count, CASE bot_id WHEN customer_id THEN 'reserved' ELSE 'available' END,
    'payment', CASE bot_id WHEN customer_id THEN -total_minor ELSE amount_minor END, :o::uuid FROM paid
  UNION ALL
  SELECT gen_random_uuid(), now(), :o::uuid, NULL::uuid, NULL::bigint, 'fees', 'payment', fee_minor, :o::uuid FROM next
)
SELECT plain.record(next, 'complete', customer_id) FROM next;
