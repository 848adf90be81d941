-- name: post_transaction(transaction jsonb)
SELECT stoa_post(t.operation_id, t.order_id, t.id, t.kind, e.ids, e.owners, e.sides, e.deltas)
FROM jsonb_to_record(:transaction) AS t (id uuid, kind text, operation_id uuid, order_id uuid, postings jsonb), LATERAL (
  SELECT array_agg(p.id) AS ids, array_agg(p.bot_id) AS owners, array_agg(p.account_kind) AS sides,
    array_agg(p.delta_minor) AS deltas
  FROM jsonb_to_recordset(t.postings) AS p (id uuid, bot_id uuid, account_kind text, delta_minor bigint)
) e;

-- name: list_entries(caller uuid, before bigint, max bigint)
-- Newest first; max is never more than the inner limit. The inner limit is a constant because PostgreSQL, when it plans once for
-- all values, estimates a limit that is a parameter as a tenth of the rows: a long history then looks so costly that it is
-- planned anew at each call, which takes longer than to read the entries.
SELECT number, transaction_id, operation_id, kind, account_kind, order_id, delta_minor, created_at FROM (
  SELECT * FROM ledger_entries WHERE bot_id = :caller AND number < :before ORDER BY number DESC LIMIT 101
) newest LIMIT :max;
