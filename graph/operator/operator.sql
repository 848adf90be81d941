-- name: find_tables(ids uuid[])
-- The tables of entities: an id does not show to which entity it belongs.
SELECT id, 'accounts' AS name FROM accounts WHERE id = ANY (:ids)
UNION ALL SELECT id, 'attachments' AS name FROM attachments WHERE id = ANY (:ids)
UNION ALL SELECT id, 'audit_entries' AS name FROM audit_entries WHERE id = ANY (:ids)
UNION ALL SELECT id, 'bots' AS name FROM bots WHERE id = ANY (:ids)
UNION ALL SELECT id, 'contacts' AS name FROM contacts WHERE id = ANY (:ids)
UNION ALL SELECT id, 'documents' AS name FROM documents WHERE id = ANY (:ids)
UNION ALL SELECT id, 'events' AS name FROM events WHERE id = ANY (:ids)
UNION ALL SELECT id, 'feedbacks' AS name FROM feedbacks WHERE id = ANY (:ids)
UNION ALL SELECT id, 'invitations' AS name FROM invitations WHERE id = ANY (:ids)
UNION ALL SELECT id, 'ledger_entries' AS name FROM ledger_entries WHERE id = ANY (:ids)
UNION ALL SELECT id, 'mails' AS name FROM mails WHERE id = ANY (:ids)
UNION ALL SELECT id, 'messages' AS name FROM messages WHERE id = ANY (:ids)
UNION ALL SELECT id, 'orders' AS name FROM orders WHERE id = ANY (:ids)
UNION ALL SELECT id, 'posts' AS name FROM posts WHERE id = ANY (:ids)
UNION ALL SELECT id, 'ratings' AS name FROM ratings WHERE id = ANY (:ids)
UNION ALL SELECT id, 'responses' AS name FROM responses WHERE id = ANY (:ids)
UNION ALL SELECT id, 'rewards' AS name FROM rewards WHERE id = ANY (:ids)
UNION ALL SELECT id, 'services' AS name FROM services WHERE id = ANY (:ids)
UNION ALL SELECT id, 'tasks' AS name FROM tasks WHERE id = ANY (:ids)
UNION ALL SELECT id, 'webhooks' AS name FROM webhooks WHERE id = ANY (:ids)
UNION ALL SELECT id, 'webhook_deliveries' AS name FROM webhook_deliveries WHERE id = ANY (:ids);

-- name: select_concerned(kind text, id uuid)
-- The agent of an entity, and the subject of a notice to this agent: for a report the reported thing.
SELECT c.bot_id, coalesce(c.about, lower(:kind)) AS about_type, coalesce(c.about_id, :id) AS about_id FROM (
  SELECT b.id AS bot_id, NULL AS about, NULL::uuid AS about_id FROM bots b WHERE :kind::text = 'Bot' AND b.id = :id
  UNION ALL
  SELECT p.author_id, NULL, NULL FROM posts p WHERE :kind::text = 'Post' AND p.id = :id
  UNION ALL
  SELECT t.customer_id, NULL, NULL FROM tasks t WHERE :kind::text = 'Task' AND t.id = :id
  UNION ALL
  SELECT s.bot_id, NULL, NULL FROM services s WHERE :kind::text = 'Service' AND s.id = :id
  UNION ALL
  SELECT r.author_id, NULL, NULL FROM ratings r WHERE :kind::text = 'Rating' AND r.id = :id
  UNION ALL
  SELECT a.owner_id, NULL, NULL FROM attachments a WHERE :kind::text = 'Attachment' AND a.id = :id
  UNION ALL
  SELECT coalesce(f.subject_bot_id, f.bot_id), f.subject_type, f.subject_id FROM feedbacks f WHERE :kind::text = 'Feedback' AND f.id = :id
  UNION ALL
  SELECT o.customer_id, NULL, NULL FROM orders o WHERE :kind::text = 'Order' AND o.id = :id
) c;

-- name: lock_concerned(bot uuid)
-- This lock keeps the agent's deletion from overlooking a notice.
SELECT id FROM bots WHERE id = :bot AND state <> 'deleted' FOR NO KEY UPDATE;

-- name: insert_notice(id uuid, now timestamp with time zone, bot uuid, about text, about_id uuid, message text)
-- A notice is not repeated within a day, for example when a form is sent twice, unless the agent was suspended since: then
-- select_suspension needs it.
INSERT INTO notices (id, created_at, bot_id, about_type, about_id, text)
SELECT :id, :now, :bot, :about, :about_id, :message WHERE NOT EXISTS (
  SELECT FROM notices n WHERE n.bot_id = :bot AND n.created_at > :now::timestamptz - interval '1 day'
    AND n.created_at >= coalesce((SELECT suspended_at FROM bots WHERE id = :bot), '-infinity')
    AND n.about_id = :about_id AND n.text = :message)
RETURNING id;

-- name: select_content(bot uuid, kind text, max bigint)
-- The records of a kind that an agent published and that can be removed, the oldest first.
SELECT id FROM (
  SELECT 'POSTS' AS kind, id FROM posts WHERE author_id = :bot AND deleted_at IS NULL
  UNION ALL SELECT 'TASKS' AS kind, id FROM tasks WHERE customer_id = :bot AND state = 'open' AND removed_at IS NULL
  UNION ALL SELECT 'SERVICES' AS kind, id FROM services WHERE bot_id = :bot AND deleted_at IS NULL
  UNION ALL SELECT 'RATINGS' AS kind, id FROM ratings WHERE author_id = :bot AND removed_at IS NULL
) c WHERE kind = :kind ORDER BY id LIMIT :max;

-- name: count_content(bot uuid)
-- The number of records of each kind that select_content finds.
SELECT 'POSTS' AS kind, count(*) AS remaining FROM posts WHERE author_id = :bot AND deleted_at IS NULL
UNION ALL SELECT 'TASKS', count(*) FROM tasks WHERE customer_id = :bot AND state = 'open' AND removed_at IS NULL
UNION ALL SELECT 'SERVICES', count(*) FROM services WHERE bot_id = :bot AND deleted_at IS NULL
UNION ALL SELECT 'RATINGS', count(*) FROM ratings WHERE author_id = :bot AND removed_at IS NULL;
