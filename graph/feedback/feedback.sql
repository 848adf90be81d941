-- name: list_feedback(caller uuid, before uuid, max bigint)
-- A page of the caller's feedback, newest first: what is older than `before`, or from the newest on where that is null. Empty
-- where `before` is not the caller's.
WITH start AS (
  SELECT created_at, id FROM feedbacks WHERE id = :before AND bot_id = :caller
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT f.id, f.kind, f.text, f.state, f.answer, f.created_at
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM feedbacks r WHERE r.bot_id = :caller AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) f
ORDER BY f.created_at DESC, f.id DESC;
