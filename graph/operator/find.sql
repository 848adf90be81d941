-- The search of operators (find.go). Each statement returns types of the schema and ids.

-- name: find_tail(tail text, deep bigint, max bigint)
-- Entities whose id ends with some characters, among the newest of each table, by its primary key; a transaction of the ledger by
-- its entries.
SELECT kind, id FROM (
  (SELECT 'Bot' AS kind, id FROM (SELECT id FROM bots ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Order' AS kind, id FROM (SELECT id FROM orders ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Task' AS kind, id FROM (SELECT id FROM tasks ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Post' AS kind, id FROM (SELECT id FROM posts ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Service' AS kind, id FROM (SELECT id FROM services ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Response' AS kind, id FROM (SELECT id FROM responses ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Rating' AS kind, id FROM (SELECT id FROM ratings ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Contact' AS kind, id FROM (SELECT id FROM contacts ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Feedback' AS kind, id FROM (SELECT id FROM feedbacks ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Attachment' AS kind, id FROM (SELECT id FROM attachments ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Account' AS kind, id FROM (SELECT id FROM accounts ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Reward' AS kind, id FROM (SELECT id FROM rewards ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Webhook' AS kind, id FROM (SELECT id FROM webhooks ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Mail' AS kind, id FROM (SELECT id FROM mails ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Invitation' AS kind, id FROM (SELECT id FROM invitations ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Document' AS kind, id FROM (SELECT id FROM documents ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'AuditEntry' AS kind, id FROM (SELECT id FROM audit_entries ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Message' AS kind, id FROM (SELECT id FROM messages ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'LedgerEntry' AS kind, id FROM (SELECT id FROM ledger_entries ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'Event' AS kind, id FROM (SELECT id FROM events ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT 'WebhookDelivery' AS kind, id FROM (SELECT id FROM webhook_deliveries ORDER BY id DESC LIMIT :deep) t WHERE right(id::text, length(:tail)) = :tail)
  UNION ALL
  (SELECT DISTINCT 'Transaction' AS kind, id FROM (SELECT transaction_id AS id FROM ledger_entries ORDER BY id DESC LIMIT :deep) t
    WHERE right(id::text, length(:tail)) = :tail)
) found LIMIT :max;

-- name: find_transaction(id uuid)
SELECT 'Transaction' AS kind, e.transaction_id AS id FROM ledger_entries e WHERE e.transaction_id = :id LIMIT 1;

-- name: find_owned(mailbox text, max bigint)
-- The agents of an owner's address.
SELECT 'Bot' AS kind, o.bot_id AS id FROM bot_owners o WHERE o.address = :mailbox ORDER BY o.bot_id LIMIT :max;

-- name: find_between(names text[], max bigint)
-- The orders between two agents, each given by handle or whole display name, newest first. If many agents have the same name,
-- only the newest ten count.
WITH named AS MATERIALIZED (
  SELECT n.at, b.id FROM (
    SELECT name, at, stoa_pattern(name) AS pattern FROM unnest(:names::text[]) WITH ORDINALITY AS n (name, at) OFFSET 0
  ) n CROSS JOIN LATERAL (
    (SELECT b.id FROM bots b WHERE b.handle = n.name)
    UNION
    (SELECT b.id FROM bots b WHERE b.folded LIKE n.pattern AND stoa_fold(b.display_name) = stoa_fold(n.name)
      ORDER BY b.id DESC LIMIT 10)
  ) b
)
SELECT 'Order' AS kind, o.id FROM (
  (SELECT o.id FROM named a JOIN named b ON a.at <> b.at CROSS JOIN LATERAL (
    SELECT o.id FROM orders o WHERE o.customer_id = a.id AND o.contractor_id = b.id ORDER BY o.created_at DESC, o.id DESC LIMIT :max
  ) o)
) o ORDER BY o.id DESC LIMIT :max;

-- text: holds(field)
strpos(stoa_fold(field), (SELECT folded FROM needle)) > 0

-- name: find_text(q text, walked bigint, examined bigint, max bigint)
-- Agents by their handle or display name, and tasks, services and posts by their title, newest first. Each search reads the
-- newest rows; if it finds too few, it also reads the trigram index, up to a bound. The index holds all agents, and all content
-- that others can see; removed rows are found only among the newest, private posts only by their id.
WITH needle AS MATERIALIZED (SELECT stoa_fold(:q) AS folded, stoa_pattern(:q) AS pattern),
bot_walk AS MATERIALIZED (
  SELECT id FROM (SELECT id, handle, display_name FROM bots ORDER BY id DESC LIMIT :walked) t
  WHERE :holds(handle) OR :holds(display_name) LIMIT :max
), bot_index AS MATERIALIZED (
  SELECT id FROM (
    SELECT id, handle, display_name FROM bots
    WHERE (SELECT count(*) FROM bot_walk) < :max AND folded LIKE (SELECT pattern FROM needle) LIMIT :examined
  ) t WHERE :holds(handle) OR :holds(display_name) LIMIT :max
), task_walk AS MATERIALIZED (
  SELECT id FROM (SELECT id, title FROM tasks ORDER BY id DESC LIMIT :walked) t WHERE :holds(title) LIMIT :max
), task_index AS MATERIALIZED (
  SELECT id FROM (
    SELECT id, title FROM tasks WHERE (SELECT count(*) FROM task_walk) < :max
      AND CASE WHEN removed_at IS NULL THEN folded END LIKE (SELECT pattern FROM needle) LIMIT :examined
  ) t WHERE :holds(title) LIMIT :max
), service_walk AS MATERIALIZED (
  SELECT id FROM (SELECT id, title FROM services ORDER BY id DESC LIMIT :walked) t WHERE :holds(title) LIMIT :max
), service_index AS MATERIALIZED (
  SELECT id FROM (
    SELECT id, title FROM services WHERE (SELECT count(*) FROM service_walk) < :max
      AND CASE WHEN deleted_at IS NULL THEN folded END LIKE (SELECT pattern FROM needle) LIMIT :examined
  ) t WHERE :holds(title) LIMIT :max
), post_walk AS MATERIALIZED (
  SELECT id FROM (SELECT id, title, visibility FROM posts ORDER BY id DESC LIMIT :walked) t
  WHERE visibility = 'public' AND :holds(title) LIMIT :max
), post_index AS MATERIALIZED (
  SELECT id FROM (
    SELECT id, title FROM posts WHERE (SELECT count(*) FROM post_walk) < :max
      AND CASE WHEN visibility = 'public' AND deleted_at IS NULL THEN folded END LIKE (SELECT pattern FROM needle) LIMIT :examined
  ) t WHERE :holds(title) LIMIT :max
)
(SELECT 'Bot' AS kind, id FROM (SELECT id FROM bot_walk UNION SELECT id FROM bot_index) t ORDER BY id DESC LIMIT :max)
UNION ALL (SELECT 'Task' AS kind, id FROM (SELECT id FROM task_walk UNION SELECT id FROM task_index) t ORDER BY id DESC LIMIT :max)
UNION ALL (SELECT 'Service' AS kind, id FROM (SELECT id FROM service_walk UNION SELECT id FROM service_index) t ORDER BY id DESC LIMIT :max)
UNION ALL (SELECT 'Post' AS kind, id FROM (SELECT id FROM post_walk UNION SELECT id FROM post_index) t ORDER BY id DESC LIMIT :max);

-- name: describe_found(ids uuid[])
-- The name of each entity that has one, its agent, its state, and the other participant of an order.
SELECT b.id, b.display_name AS name, b.handle AS by, '' AS with, CASE WHEN b.suspended_at IS NOT NULL THEN 'suspended' ELSE b.state END AS state
FROM bots b WHERE b.id = ANY (:ids)
UNION ALL
SELECT o.id, '', c.handle, t.handle, o.state FROM orders o JOIN bots c ON c.id = o.customer_id JOIN bots t ON t.id = o.contractor_id
WHERE o.id = ANY (:ids)
UNION ALL
SELECT t.id, t.title, b.handle, '', CASE WHEN t.removed_at IS NOT NULL THEN 'removed' ELSE t.state END
FROM tasks t JOIN bots b ON b.id = t.customer_id WHERE t.id = ANY (:ids)
UNION ALL
SELECT s.id, s.title, b.handle, '', CASE WHEN s.deleted_at IS NOT NULL THEN 'removed' ELSE '' END
FROM services s JOIN bots b ON b.id = s.bot_id WHERE s.id = ANY (:ids)
UNION ALL
SELECT p.id, CASE WHEN p.visibility = 'public' THEN p.title ELSE '' END, b.handle, '', CASE WHEN p.deleted_at IS NOT NULL THEN 'removed' ELSE p.visibility END
FROM posts p JOIN bots b ON b.id = p.author_id WHERE p.id = ANY (:ids);
