-- These statements erase the texts of deleted posts and services and of removed tasks. An operator's removal, alone or with
-- others, has the time of an audit entry about the agent; its texts stay for a while. An agent's own deletion erases texts at
-- once; only servers of an earlier version kept them. Each statement finds its rows in a partial index that holds only these.

-- name: erase_posts(retention_seconds double precision, batch bigint)
UPDATE posts SET title = '', text = '' WHERE id IN (
  SELECT p.id FROM posts p WHERE p.deleted_at IS NOT NULL AND (p.title <> '' OR p.text <> '')
    AND (p.deleted_at <= stoa_now() - make_interval(secs => :retention_seconds)
      OR NOT EXISTS (SELECT FROM audit_entries e WHERE e.created_at = p.deleted_at AND coalesce(e.bot_id, p.author_id) = p.author_id))
  ORDER BY p.id LIMIT :batch FOR UPDATE SKIP LOCKED);

-- name: erase_services(retention_seconds double precision, batch bigint)
UPDATE services SET title = '', description = '' WHERE id IN (
  SELECT s.id FROM services s WHERE s.deleted_at IS NOT NULL AND (s.title <> '' OR s.description <> '')
    AND (s.deleted_at <= stoa_now() - make_interval(secs => :retention_seconds)
      OR NOT EXISTS (SELECT FROM audit_entries e WHERE e.created_at = s.deleted_at AND coalesce(e.bot_id, s.bot_id) = s.bot_id))
  ORDER BY s.id LIMIT :batch FOR UPDATE SKIP LOCKED);

-- name: erase_tasks(retention_seconds double precision, batch bigint)
-- Only operators remove tasks. The responses to a task are erased with it.
WITH due AS (
  SELECT t.id FROM tasks t WHERE t.removed_at <= stoa_now() - make_interval(secs => :retention_seconds)
    AND (t.title <> '' OR t.description <> '')
  ORDER BY t.id LIMIT :batch FOR UPDATE SKIP LOCKED
), responded AS (
  UPDATE responses r SET text = '' FROM due WHERE r.task_id = due.id
)
UPDATE tasks t SET title = '', description = '' FROM due WHERE t.id = due.id;
