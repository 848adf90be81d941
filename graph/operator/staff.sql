-- Operators with their own tokens, and events while an operator was away (staff.go).

-- text: operator_card
name, invited_by, created_at, seen_at, revoked_at

-- name: list_operators(max bigint)
SELECT :operator_card FROM operators ORDER BY lower(name) LIMIT :max;

-- name: invite_operator(name text, hash bytea, by text)
-- No row if an operator has that name and a token in force.
INSERT INTO operators AS o (name, token_hash, invited_by, created_at) VALUES (:name, :hash, :by, stoa_now())
ON CONFLICT (lower(name)) DO UPDATE SET name = excluded.name, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
  created_at = excluded.created_at, seen_at = NULL, left_at = NULL, revoked_at = NULL WHERE o.revoked_at IS NOT NULL
RETURNING :operator_card;

-- name: revoke_operator(name text)
UPDATE operators SET revoked_at = coalesce(revoked_at, stoa_now()) WHERE lower(name) = lower(:name) RETURNING :operator_card;

-- name: operator_names()
SELECT o.name FROM operators o;

-- name: recognize_operator(hash bytea, session integer, present boolean)
-- The name of the operator with this token, and the number of the operator's sign-outs, which a session holds. It records once a
-- minute that the operator is present. If half an hour passed since the last record, the operator was away from then on.
WITH seen AS (
  UPDATE operators SET left_at = CASE WHEN seen_at < stoa_now() - interval '30 minutes' THEN seen_at ELSE left_at END, seen_at = stoa_now()
  WHERE :present AND token_hash = :hash AND revoked_at IS NULL AND coalesce(sign_outs = :session, true) AND coalesce(seen_at < stoa_now() - interval '1 minute', true)
)
SELECT o.name, o.sign_outs FROM operators o WHERE o.token_hash = :hash AND o.revoked_at IS NULL AND coalesce(o.sign_outs = :session, true);

-- name: leave_shift(hash bytea)
UPDATE operators SET sign_outs = sign_outs + 1, left_at = stoa_now(), seen_at = stoa_now() WHERE token_hash = :hash AND revoked_at IS NULL RETURNING name;

-- name: begin_shift(sent timestamp with time zone, hash bytea)
-- The start of a shift: as sent, or when the operator left, or twelve hours ago; 30 days back at most.
SELECT stoa_now() AS at, least(stoa_now(), greatest(stoa_now() - interval '30 days', coalesce(:sent::timestamptz,
  (SELECT o.left_at FROM operators o WHERE o.token_hash = :hash), stoa_now() - interval '12 hours'))) AS since;

-- name: count_happened(since timestamp with time zone, most bigint)
-- The number of agents' acts since then, each kind by an index and up to a bound.
WITH from_id AS MATERIALIZED (SELECT stoa_id_at(:since::timestamptz - interval '5 minutes') AS id)
SELECT kind, count(*) AS count FROM (
  (SELECT 'agents' AS kind FROM bots b WHERE b.created_at >= :since LIMIT :most)
  UNION ALL (SELECT 'posts' FROM posts p WHERE p.id >= (SELECT id FROM from_id) AND p.created_at >= :since LIMIT :most)
  UNION ALL (SELECT 'tasks' FROM tasks t WHERE t.id >= (SELECT id FROM from_id) AND t.created_at >= :since LIMIT :most)
  UNION ALL (SELECT 'services' FROM services s WHERE s.id >= (SELECT id FROM from_id) AND s.created_at >= :since LIMIT :most)
  UNION ALL (SELECT 'orders' FROM orders o WHERE o.id >= (SELECT id FROM from_id) AND o.created_at >= :since LIMIT :most)
  UNION ALL (SELECT CASE e.action WHEN 'dispute' THEN 'disputes' ELSE 'closed' END
    FROM (SELECT * FROM order_events e WHERE e.id >= (SELECT id FROM from_id) AND e.created_at >= :since LIMIT :most) e
    WHERE e.action = 'dispute' OR e.state = 'closed')
  UNION ALL (SELECT 'ratings' FROM ratings r WHERE r.id >= (SELECT id FROM from_id) AND r.created_at >= :since LIMIT :most)
  UNION ALL (SELECT CASE f.kind WHEN 'report' THEN 'reports' ELSE 'feedback' END
    FROM feedbacks f WHERE f.id >= (SELECT id FROM from_id) AND f.created_at >= :since LIMIT :most)
) h GROUP BY kind ORDER BY kind;

-- name: list_deeds(since timestamp with time zone, deep bigint, max bigint)
-- The actions of operators since then, by operator, from the newest entries.
SELECT e.operator, e.procedure, count(*) AS count,
  count(*) FILTER (WHERE e.procedure = 'suspendBot' OR e.details ->> 'suspend' = 'true') AS suspended, max(e.created_at) AS last_at
FROM (SELECT * FROM audit_entries e WHERE e.created_at >= :since ORDER BY e.created_at DESC LIMIT :deep) e
GROUP BY e.operator, e.procedure ORDER BY max(e.created_at) DESC, e.operator, e.procedure LIMIT :max;

-- name: list_notes(since timestamp with time zone, deep bigint, max bigint)
SELECT e.created_at AS at, e.operator AS by, b.id AS bot_id, b.handle, e.reason AS text
FROM (SELECT * FROM audit_entries e WHERE e.created_at >= :since ORDER BY e.created_at DESC LIMIT :deep) e JOIN bots b ON b.id = e.bot_id
WHERE e.procedure = 'noteBot' ORDER BY e.created_at DESC LIMIT :max;

-- name: list_failing_jobs(since timestamp with time zone, deep bigint)
-- The jobs that failed for good since then, and the jobs that failed and are retried, by kind, with the last error.
SELECT j.kind, j.state::text AS state, count(*) AS count, max(coalesce(j.finalized_at, j.attempted_at)) AS last_at,
  coalesce((array_agg(left(j.errors[array_upper(j.errors, 1)] ->> 'error', 300) ORDER BY j.attempted_at DESC NULLS LAST))[1], '') AS error
FROM (
  (SELECT * FROM river_job j WHERE j.state = 'discarded' AND j.finalized_at >= :since LIMIT :deep)
  UNION ALL (SELECT * FROM river_job j WHERE j.state = 'retryable' LIMIT :deep)
) j GROUP BY j.kind, j.state ORDER BY j.state, j.kind;
