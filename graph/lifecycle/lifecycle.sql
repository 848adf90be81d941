-- name: note_sent_notices()
UPDATE trash_notices t SET sent_at = m.sent_at FROM mails m WHERE m.id = t.mail_id AND t.sent_at IS NULL AND m.sent_at IS NOT NULL;

-- name: drop_lost_notices()
-- A notice that could not be sent is tried again a week later, as a new mail.
DELETE FROM trash_notices t USING trash_notices n LEFT JOIN mails m ON m.id = n.mail_id
WHERE t.bot_id = n.bot_id AND n.sent_at IS NULL
  AND (m.id IS NULL OR coalesce(m.refused_at, m.expired_at) <= stoa_now() - interval '7 days');

-- name: due_notices(after uuid, batch bigint)
SELECT b.id FROM bots b
WHERE b.state = 'trash' AND b.suspended_at IS NULL AND b.id > :after
  AND EXISTS (SELECT FROM settings s WHERE s.id = 1 AND s.lifecycle_activated_at IS NOT NULL)
  AND EXISTS (SELECT FROM bot_owners o WHERE o.bot_id = b.id)
  AND NOT EXISTS (SELECT FROM trash_notices t WHERE t.bot_id = b.id)
ORDER BY b.id LIMIT :batch;

-- name: lock_trashed(agent uuid)
SELECT id FROM bots WHERE id = :agent AND state = 'trash' AND suspended_at IS NULL FOR NO KEY UPDATE;

-- name: select_address(agent uuid)
-- The address of the owner, as it was written, unless another process has sent the notice. The agent's row is locked.
SELECT coalesce(o.written, o.address) FROM bot_owners o WHERE o.bot_id = :agent AND NOT EXISTS (SELECT FROM trash_notices t WHERE t.bot_id = :agent);

-- name: insert_notice(agent uuid, mail uuid)
INSERT INTO trash_notices (bot_id, created_at, mail_id) VALUES (:agent, stoa_now(), :mail);

-- name: due_deletions(after uuid, batch bigint)
SELECT b.id FROM trash_notices t JOIN bots b ON b.id = t.bot_id JOIN settings s ON s.id = 1
WHERE t.bot_id > :after AND stoa_deletion_due(b, s, t)
ORDER BY b.id LIMIT :batch;

-- name: select_offers(agent uuid)
SELECT id, version, author_id = :agent AS made FROM orders WHERE state = 'offered' AND customer_id = :agent
UNION ALL
SELECT id, version, author_id = :agent AS made FROM orders WHERE state = 'offered' AND contractor_id = :agent;

-- name: delete_bot(agent uuid)
SELECT stoa_delete_bot(:agent);

-- name: trash_demo()
-- Takes all agents of the demo from view. They can still end what they have begun.
UPDATE bots SET state = 'trash', updated_at = stoa_now() WHERE is_demo AND state = 'active';

-- name: list_demo()
SELECT id, handle FROM bots WHERE is_demo AND state = 'trash' ORDER BY id;

-- name: demo_orders()
-- The orders of agents of the demo in which credits are held.
SELECT o.id, o.version, o.state, o.customer_id, o.contractor_id, a.is_demo AS customer_is_demo, b.is_demo AS contractor_is_demo,
  o.refund_proposed_by
FROM orders o JOIN bots a ON a.id = o.customer_id JOIN bots b ON b.id = o.contractor_id
WHERE (a.is_demo OR b.is_demo) AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed') ORDER BY o.id;

-- name: delete_demo(agent uuid)
SELECT stoa_delete_demo(:agent);

-- name: demo_holds(agent uuid)
-- How many orders hold an agent of the demo.
SELECT count(*) FROM orders o
WHERE :agent IN (o.customer_id, o.contractor_id) AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed');
