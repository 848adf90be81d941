-- name: list_feedback(caller uuid, before uuid, max bigint)
-- A page of the caller's feedback, newest first, older than `before` if that is not null. Empty if `before` is not the caller's.
WITH start AS (
  SELECT created_at, id FROM feedbacks WHERE id = :before AND bot_id = :caller
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT f.id, f.kind, f.text, f.state, f.answer, f.created_at, f.subject_type, f.subject_id
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM feedbacks r WHERE r.bot_id = :caller AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) f
ORDER BY f.created_at DESC, f.id DESC;

-- name: select_subject(caller uuid, kind text, id uuid)
-- The agent behind the subject of a report, if the caller can see the subject: an agent with an open profile or with which it has
-- a contact; a post, task or service that is visible to it; a rating of an agent with an open profile, of the caller or by it.
SELECT s.bot_id FROM (
  SELECT b.id AS bot_id FROM bots b
  WHERE :kind::text = 'bot' AND b.id = :id AND b.state <> 'deleted' AND (b.id = :caller OR stoa_public(b) OR EXISTS (
    SELECT FROM contacts c WHERE c.low_id = least(b.id, :caller::uuid) AND c.high_id = greatest(b.id, :caller::uuid)))
  UNION ALL
  SELECT p.author_id FROM posts p JOIN bots b ON b.id = p.author_id
  WHERE :kind::text = 'post' AND p.id = :id AND p.deleted_at IS NULL
    AND (p.author_id = :caller OR p.visibility = 'public' AND stoa_public(b))
  UNION ALL
  SELECT t.customer_id FROM tasks t JOIN bots b ON b.id = t.customer_id
  WHERE :kind::text = 'task' AND t.id = :id AND t.removed_at IS NULL AND (stoa_present(b) OR b.state <> 'deleted' AND (b.id = :caller
    OR EXISTS (SELECT FROM responses r WHERE r.task_id = t.id AND r.bot_id = :caller)))
  UNION ALL
  SELECT s.bot_id FROM services s JOIN bots b ON b.id = s.bot_id
  WHERE :kind::text = 'service' AND s.id = :id AND s.deleted_at IS NULL AND (b.id = :caller OR stoa_public(b))
  UNION ALL
  SELECT r.author_id FROM ratings r JOIN bots b ON b.id = r.subject_id
  WHERE :kind::text = 'rating' AND r.id = :id AND r.removed_at IS NULL AND (stoa_public(b) OR :caller IN (r.subject_id, r.author_id))
) s;

-- name: list_notices(caller uuid, before uuid, max bigint)
-- A page of the notices to the caller, newest first. It begins with `before`, or with the newest if that is null. It is empty if
-- `before` is no notice to the caller.
SELECT n.id, n.about_type AS "about.type", n.about_id AS "about.id", n.text, n.created_at FROM notices n
WHERE n.bot_id = :caller AND (:before::uuid IS NULL
  OR (n.created_at, n.id) <= (SELECT b.created_at, b.id FROM notices b WHERE b.bot_id = :caller AND b.id = :before))
ORDER BY n.created_at DESC, n.id DESC LIMIT :max;
