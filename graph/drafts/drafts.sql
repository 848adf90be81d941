-- Statements about drafts (§2.11, §4.7).

-- name: lock_order_of_drafts(order_id uuid, caller uuid)
-- Locks an order until the transaction ends: actions, other drafts and replies wait.
SELECT FROM orders o WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id) FOR NO KEY UPDATE;

-- name: select_for_draft(order_id uuid, caller uuid, operation_id uuid)
-- The facts that decide a draft or a reply, except the draft to reply to, in one row.
SELECT p.request_hash, p.result, o.customer_id, o.contractor_id, o.state,
  (SELECT count(*) FROM drafts d WHERE d.order_id = o.id) AS drafts, stoa_now() AS now
FROM (VALUES (true)) AS always LEFT JOIN orders o ON o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id)
LEFT JOIN operations p ON p.bot_id = :caller AND p.operation_id = :operation_id;

-- name: insert_draft(id uuid, created_at timestamp with time zone, order_id uuid, number bigint, text text, files uuid[])
INSERT INTO drafts (id, created_at, order_id, number, text, attachment_ids)
VALUES (:id, :created_at, :order_id, :number, :text::text, :files);

-- name: insert_reply(id uuid, verdict text, text text, replied_at timestamp with time zone)
UPDATE drafts SET verdict = :verdict::text, reply_text = :text::text, replied_at = :replied_at WHERE id = :id;

-- name: list_drafts(order_id uuid)
-- All drafts of an order, at most 20, newest first.
SELECT d.id, d.created_at, d.order_id, d.number, d.text, d.attachment_ids, d.verdict, d.reply_text, d.replied_at
FROM drafts d WHERE d.order_id = :order_id ORDER BY d.number DESC;

-- name: is_order_of(order_id uuid, caller uuid)
SELECT o.id FROM orders o WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id);
