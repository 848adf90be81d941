-- Statements about orders (§2.6, §3.1, §4.7). They read orders from the view stoa_order_cards (migrate/functions/orders.sql).

-- name: read_order(order_id uuid, caller uuid)
SELECT o.* FROM stoa_order_cards o WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id);

-- name: list_orders(caller uuid, skip bigint, max bigint)
-- Newest first. The page is found in two indexes, one for each role, which begin with role and state: the newest orders of each
-- state are merged, and each state is read only as far as the page. Then only the orders of the page are read whole.
WITH found AS MATERIALIZED (
  SELECT own.id, own.created_at
  FROM unnest('{offered,funded,in_progress,delivered,disputed,closed,cancelled,rejected}'::text[]) AS each (state) CROSS JOIN LATERAL (
    (SELECT id, created_at FROM orders WHERE customer_id = :caller AND state = each.state
      ORDER BY created_at DESC, id DESC LIMIT :skip::bigint + :max::bigint)
    UNION ALL
    (SELECT id, created_at FROM orders WHERE contractor_id = :caller AND state = each.state
      ORDER BY created_at DESC, id DESC LIMIT :skip::bigint + :max::bigint)
  ) own ORDER BY own.created_at DESC, own.id DESC OFFSET :skip LIMIT :max
)
SELECT o.* FROM found JOIN stoa_order_cards o ON o.id = found.id ORDER BY o.created_at DESC, o.id DESC;

-- name: list_orders_in_state(caller uuid, state text, skip bigint, max bigint)
-- Like list_orders, for one state. One statement for both would be planned anew for each value.
WITH found AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT id, created_at FROM orders WHERE customer_id = :caller AND state = :state::text
      ORDER BY created_at DESC, id DESC LIMIT :skip::bigint + :max::bigint)
    UNION ALL
    (SELECT id, created_at FROM orders WHERE contractor_id = :caller AND state = :state::text
      ORDER BY created_at DESC, id DESC LIMIT :skip::bigint + :max::bigint)
  ) own ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
)
SELECT o.* FROM found JOIN stoa_order_cards o ON o.id = found.id ORDER BY o.created_at DESC, o.id DESC;

-- name: find_operation(caller uuid, operation_id uuid)
SELECT request_hash, result FROM operations WHERE bot_id = :caller AND operation_id = :operation_id;

-- name: select_for_create(caller uuid, counterpart uuid, operation_id uuid, service uuid, contractor uuid)
-- The facts that decide an offer. An unknown counterpart reads as a deleted one. listed: the service is in the catalogue and
-- belongs to the contractor; false for a null service.
SELECT p.request_hash, p.result, stoa_now() AS now, s.fee_bps,
  EXISTS (SELECT FROM contacts f WHERE f.state = 'accepted'
    AND f.low_id = least(:caller::uuid, :counterpart::uuid)
    AND f.high_id = greatest(:caller::uuid, :counterpart::uuid)) AS friends,
  coalesce(stoa_active(c, s) AND stoa_active(k, s), false) AS active,
  coalesce(k.state, 'deleted') = 'deleted' AS gone,
  EXISTS (SELECT FROM services v JOIN bots b ON b.id = v.bot_id
    WHERE v.id = :service AND v.bot_id = :contractor AND v.deleted_at IS NULL AND stoa_public(b)) AS listed,
  :brief(c, caller),
  coalesce(k.id, :counterpart) AS "counterpart.id", coalesce(k.handle, '') AS "counterpart.handle",
  coalesce(k.display_name, '') AS "counterpart.display_name", k.encryption_public_key AS "counterpart.encryption_public_key",
  CASE WHEN stoa_public(k) THEN k.avatar_id END AS "counterpart.avatar_id"
FROM settings s JOIN bots c ON s.id = 1 AND c.id = :caller LEFT JOIN bots k ON k.id = :counterpart
LEFT JOIN operations p ON p.bot_id = :caller AND p.operation_id = :operation_id;

-- name: select_for_act(order_id uuid, caller uuid, operation_id uuid)
-- The facts that decide an action.
SELECT p.request_hash, p.result, o.* FROM stoa_order_cards o
LEFT JOIN operations p ON p.bot_id = :caller AND p.operation_id = :operation_id
WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id);

-- name: lock_operation(caller uuid, operation_id uuid)
-- Waits for identical requests, which have no row yet that could be locked, until the transaction ends. 7061 is the class of the
-- lock, here and in the statements that follow.
SELECT pg_advisory_xact_lock(7061, hashtext(:caller::uuid::text || :operation_id::uuid::text));

-- name: lock_for_create(caller uuid, counterpart uuid, operation_id uuid)
-- Waits as lock_operation does, and then locks the friendship until the transaction ends.
WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(7061, hashtext(:caller::uuid::text || :operation_id::uuid::text)))
SELECT FROM contacts f
WHERE (SELECT count(*) FROM turn) = 1
  AND f.low_id = least(:caller::uuid, :counterpart::uuid) AND f.high_id = greatest(:caller::uuid, :counterpart::uuid)
FOR SHARE OF f;

-- name: lock_order(order_id uuid, caller uuid, obliges boolean)
-- Locks an order, and for a new obligation the friendship, until the transaction ends. The friendship is locked first: the
-- sub-select in the last condition runs before orders are read.
WITH friendship AS MATERIALIZED (
  SELECT FROM orders o JOIN contacts f
    ON f.low_id = least(o.customer_id, o.contractor_id) AND f.high_id = greatest(o.customer_id, o.contractor_id)
  WHERE :obliges AND o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id)
  FOR SHARE OF f
)
SELECT FROM orders o
WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id) AND (SELECT count(*) FROM friendship) <= 1
FOR UPDATE OF o;

-- text: recorded
-- The end of a statement that has written an order (written) by a step (done): the stored result, the step of the history, the
-- announcements and the money. Wallets are locked last: the outer SELECT reads operation and history before it posts. Result and
-- announcement are text, because the driver sends bytes as hexadecimal digits, twice as long.
operation AS (
  INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
  SELECT d.ids[1], w.updated_at, d.participant_id, d.operation_id, :hash, convert_to(:result, 'UTF8')
  FROM written w, done d RETURNING id
), history AS (
  INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
  SELECT d.ids[2], w.updated_at, w.id, d.action, d.participant_id, w.state, w.version, d.reason
  FROM written w, done d RETURNING id
), announced AS (
  INSERT INTO events (id, created_at, recipient_id, kind, payload)
  SELECT r.id, w.updated_at, r.recipient_id, 'order.changed', convert_to(:announcement, 'UTF8')
  FROM written w, done d, LATERAL (VALUES (d.ids[3], w.customer_id), (d.ids[4], w.contractor_id)) AS r (id, recipient_id)
)
SELECT (
  SELECT stoa_post(t.operation_id, t.order_id, t.id, t.kind, e.ids, e.owners, e.sides, e.deltas)
  FROM jsonb_to_record(:transaction) AS t (id uuid, kind text, operation_id uuid, order_id uuid, postings jsonb), LATERAL (
    SELECT array_agg(p.id) AS ids, array_agg(p.bot_id) AS owners, array_agg(p.account_kind) AS sides,
      array_agg(p.delta_minor) AS deltas
    FROM jsonb_to_recordset(t.postings) AS p (id uuid, bot_id uuid, account_kind text, delta_minor bigint)
  ) e WHERE t.id IS NOT NULL
) FROM operation, history

-- name: open_order(obliges boolean, after jsonb, done jsonb, hash bytea, result text, announcement text, transaction jsonb)
-- Writes a new order with the first step of its history, the stored result, the announcements and the money. An offer obliges: it
-- waits as lock_operation does, and writes nothing unless there is a friendship, both agents are active, the deadline has not
-- passed and the fee rate is the order's. If the operation id is now taken, it fails at the unique index of operations.
WITH o AS MATERIALIZED (
  SELECT * FROM jsonb_populate_record(NULL::orders, :after)
), done AS MATERIALIZED (
  SELECT * FROM jsonb_to_record(:done) AS d (action text, participant_id uuid, reason text, operation_id uuid, ids uuid[])
), turn AS MATERIALIZED (
  SELECT pg_advisory_xact_lock(7061, hashtext(d.participant_id::text || d.operation_id::text)) FROM done d WHERE :obliges
), written AS (
  INSERT INTO orders (id, created_at, updated_at, state, version, customer_id, contractor_id, author_id, task_id, service_id,
    title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps, confirmed_total_minor, funded_at)
  SELECT o.id, o.created_at, o.updated_at, o.state, o.version, o.customer_id, o.contractor_id, o.author_id, o.task_id,
    o.service_id, o.title, o.description, o.deadline, o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps, o.confirmed_total_minor,
    o.funded_at
  FROM o
  WHERE NOT :obliges OR ((SELECT count(*) FROM turn) = 1 AND stoa_order_befriended(o.customer_id, o.contractor_id)
    AND o.deadline > stoa_now() AND o.fee_bps = (SELECT s.fee_bps FROM settings s WHERE s.id = 1))
  RETURNING id, updated_at, state, version, customer_id, contractor_id
), :recorded;

-- name: step_order(obliges boolean, after jsonb, done jsonb, hash bytea, result text, announcement text, transaction jsonb)
-- Writes an order after a step, with that step of its history, the stored result, the announcements and the money, or nothing if
-- the order does not have the version before the step. A step that obliges also writes nothing unless there is a friendship, both
-- agents are active and the deadline has not passed.
WITH n AS MATERIALIZED (
  SELECT * FROM jsonb_populate_record(NULL::orders, :after)
), done AS MATERIALIZED (
  SELECT * FROM jsonb_to_record(:done) AS d (action text, participant_id uuid, reason text, operation_id uuid, ids uuid[])
), written AS (
  UPDATE orders o SET updated_at = n.updated_at, state = n.state, version = n.version, outcome = n.outcome,
    confirmed_total_minor = n.confirmed_total_minor, result_text = n.result_text, disputed_by = n.disputed_by,
    dispute_reason = n.dispute_reason, disputed_at = n.disputed_at, refund_proposed_by = n.refund_proposed_by,
    refund_reason = n.refund_reason, refund_proposed_at = n.refund_proposed_at, funded_at = n.funded_at,
    delivered_at = n.delivered_at, closed_at = n.closed_at
  FROM n
  WHERE o.id = n.id AND o.version = n.version - 1
    AND (NOT :obliges OR (stoa_order_befriended(n.customer_id, n.contractor_id) AND o.deadline > stoa_now()))
  RETURNING o.id, o.updated_at, o.state, o.version, o.customer_id, o.contractor_id
), :recorded;

-- name: list_steps(order_id uuid, version bigint)
-- The history of an order up to a version.
SELECT e.action, e.participant_id, e.state, e.version, e.created_at, e.reason FROM order_events e
WHERE e.order_id = :order_id AND e.version <= :version ORDER BY e.version;
