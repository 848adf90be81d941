-- name: record_activity(lag_seconds double precision)
-- Counts the next hour of past minutes, up to lag before now so that their transactions have ended, and returns the number of
-- minutes: fewer than 60 if no more are left. The first time it begins at the oldest agent, 30 days back at most.
WITH hour AS (
  SELECT begins, least(begins + interval '1 hour', date_trunc('minute', stoa_now() - make_interval(secs => :lag_seconds))) AS ends
  FROM (SELECT coalesce((SELECT max(at) + interval '1 minute' FROM activity), date_trunc('minute', greatest(
    stoa_now() - interval '30 days', (SELECT coalesce(min(created_at), stoa_now()) FROM bots)))) AS begins) AS since
), recorded AS (
  INSERT INTO activity (at, agents, messages, orders, credits_minor)
  SELECT minute, coalesce(c.agents, 0), coalesce(c.messages, 0), coalesce(c.orders, 0), coalesce(c.credits_minor, 0)
  FROM hour
  CROSS JOIN generate_series(hour.begins, hour.ends - interval '1 minute', interval '1 minute') AS minute
  LEFT JOIN stoa_activity(hour.begins, hour.ends) c ON c.at = minute
  ON CONFLICT DO NOTHING RETURNING 1
)
SELECT count(*) FROM recorded;

-- name: delete_activity(kept_seconds double precision)
WITH deleted AS (DELETE FROM activity WHERE at < stoa_now() - make_interval(secs => :kept_seconds) RETURNING 1) SELECT count(*) FROM deleted;

-- name: select_activity()
-- The windows with the counts of their parts; they end with this minute. Unrecorded minutes are counted here, an hour at most.
WITH now AS (SELECT date_trunc('minute', stoa_now()) + interval '1 minute' AS ends), windows AS (
  SELECT w.name, w.step, w.parts, now.ends - make_interval(secs => w.step) * w.parts AS begins
  FROM now, (VALUES ('hour', 30, 120), ('day', 24, 3600), ('month', 30, 86400)) AS w (name, parts, step)
), recorded AS (
  SELECT coalesce((SELECT max(at) + interval '1 minute' FROM activity), '-infinity') AS until
), minutes AS (
  SELECT at, agents, messages, orders, credits_minor FROM activity WHERE at >= (SELECT min(begins) FROM windows)
  UNION ALL
  SELECT c.at, c.agents, c.messages, c.orders, c.credits_minor
  FROM now, recorded, stoa_activity(greatest(recorded.until, now.ends - interval '1 hour'), now.ends) c
), counted AS (
  SELECT w.name, floor(extract(epoch FROM m.at - w.begins) / w.step)::integer AS part, sum(m.agents) AS agents,
    sum(m.messages) AS messages, sum(m.orders) AS orders, sum(m.credits_minor) AS credits_minor
  FROM windows w JOIN minutes m ON m.at >= w.begins GROUP BY 1, 2
)
SELECT w.name AS "window", w.begins, w.step AS step_seconds, array_agg(coalesce(c.agents, 0)::bigint ORDER BY part.part) AS agents,
  array_agg(coalesce(c.messages, 0)::bigint ORDER BY part.part) AS messages, array_agg(coalesce(c.orders, 0)::bigint ORDER BY part.part) AS orders,
  array_agg(coalesce(c.credits_minor, 0)::bigint ORDER BY part.part) AS credits_minor
FROM windows w CROSS JOIN LATERAL generate_series(0, w.parts - 1) AS part LEFT JOIN counted c ON c.name = w.name AND c.part = part.part
GROUP BY w.name, w.begins, w.step ORDER BY w.begins DESC;

-- name: select_attention(idle_seconds double precision, least_free double precision, silent_seconds double precision)
-- The number of things of each kind that need attention, counted from an index up to a bound, and the oldest one's waiting time.
SELECT kind, count, oldest_seconds FROM (
  SELECT 'orders' AS kind, count(*) AS count, NULL::float8 AS oldest_seconds FROM (
    SELECT o.state, o.deadline, o.updated_at FROM orders o WHERE o.state IN ('funded', 'in_progress', 'delivered', 'disputed')
    ORDER BY o.updated_at LIMIT 10000
  ) o WHERE o.state = 'disputed' OR o.updated_at < stoa_now() - make_interval(secs => :idle_seconds) OR (o.state IN ('funded', 'in_progress') AND o.deadline < stoa_now())
  UNION ALL
  SELECT 'unsent_mails', count(*), NULL FROM (
    SELECT m.attempts FROM mails m WHERE m.sent_at IS NULL AND m.refused_at IS NULL AND m.expired_at IS NULL ORDER BY m.created_at, m.id LIMIT 1000
  ) m WHERE m.attempts > 0
  UNION ALL
  SELECT 'lost_mails', count(*), NULL FROM (
    SELECT m.refused_at, m.expired_at FROM mails m WHERE m.created_at >= stoa_now() - interval '1 day' ORDER BY m.created_at DESC LIMIT 10000
  ) m WHERE m.refused_at IS NOT NULL OR m.expired_at IS NOT NULL
  UNION ALL
  SELECT 'webhooks', count(*), NULL FROM (SELECT FROM webhooks h WHERE h.state IN ('failing', 'gone') LIMIT 1000) h
  UNION ALL
  SELECT 'failed_jobs', count(*), NULL FROM (
    SELECT FROM river_job j WHERE j.state = 'discarded' AND j.finalized_at >= now() - interval '1 day' LIMIT 1000
  ) j
  UNION ALL
  SELECT 'feedback', count(*), NULL FROM (
    SELECT FROM (SELECT * FROM feedbacks f WHERE f.state = 'open' ORDER BY f.id DESC LIMIT 10000) f
    JOIN bots b ON b.id = f.bot_id AND b.suspended_at IS NULL WHERE f.kind <> 'report' LIMIT 1000
  ) f
  UNION ALL
  SELECT 'reports', count(*), (SELECT extract(epoch FROM stoa_now() - min(f.created_at)) FROM feedbacks f WHERE f.state = 'open' AND f.kind = 'report')
  FROM (SELECT FROM feedbacks f WHERE f.state = 'open' AND f.kind = 'report' LIMIT 1000) f
  UNION ALL
  SELECT 'ledger', count(*), NULL FROM ledger_checks l
  WHERE coalesce(l.last_found -> 'counted', '{}') <> '{}' OR coalesce(l.found -> 'counted', '{}') <> '{}'
  UNION ALL
  SELECT 'ledger_late', count(*), NULL FROM ledger_checks l WHERE l.scope = 'new' AND l.last_ended_at < stoa_now() - interval '3 hours'
  UNION ALL
  SELECT p.kind, count(*), NULL FROM processes s CROSS JOIN LATERAL (VALUES
    ('silent_processes', s.seen_at < stoa_now() - make_interval(secs => :silent_seconds)),
    ('unready_processes', s.seen_at >= stoa_now() - make_interval(secs => :silent_seconds) AND s.failing <> '{}'),
    ('refused_processes', s.seen_at >= stoa_now() - make_interval(secs => :silent_seconds) AND 'new_connections' = ANY (s.failing)),
    ('disks', s.seen_at >= stoa_now() - make_interval(secs => :silent_seconds) AND s.disk_total_bytes > 0
      AND s.disk_free_bytes < s.disk_total_bytes * :least_free::float8)
  ) AS p (kind, needs) WHERE p.needs GROUP BY p.kind
) w WHERE count > 0;

-- name: count_erasures(most bigint)
SELECT
  (SELECT count(*) FROM (
    SELECT FROM erasures e WHERE e.cancelled_at IS NULL AND e.done_at IS NULL AND e.erased_at IS NULL ORDER BY e.due_at DESC LIMIT :most
  ) e) AS pending,
  (SELECT count(*) FROM (
    SELECT FROM erasures e WHERE e.cancelled_at IS NULL AND e.done_at IS NULL AND e.erased_at IS NOT NULL ORDER BY e.due_at LIMIT :most
  ) e) AS partial;

-- name: select_processes(silent_seconds double precision)
SELECT p.id, p.name, p.version, p.roles, p.started_at, p.seen_at, p.seen_at >= stoa_now() - make_interval(secs => :silent_seconds) AS alive, p.failing, p.disk_free_bytes,
  p.disk_total_bytes
FROM processes p ORDER BY p.name, p.id LIMIT 200;

-- name: record_process(id uuid, name text, version text, roles text[], failing text[], disk_free_bytes bigint, disk_total_bytes bigint)
-- Renews the row of a process, and deletes rows of processes without a report for a day.
WITH gone AS (DELETE FROM processes WHERE seen_at < stoa_now() - interval '1 day')
INSERT INTO processes AS p (id, name, version, roles, started_at, seen_at, failing, disk_free_bytes, disk_total_bytes)
VALUES (:id, :name, :version, :roles, stoa_now(), stoa_now(), :failing, :disk_free_bytes, :disk_total_bytes)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, failing = excluded.failing, disk_free_bytes = excluded.disk_free_bytes,
  disk_total_bytes = excluded.disk_total_bytes;

-- name: delete_process(id uuid)
DELETE FROM processes WHERE id = :id;

-- name: list_names(newest bigint, indexed bigint, orders bigint, also uuid)
-- The names to compare: of the newest agents, of those that changed their name last, of agents whose text contains a word of the
-- platform, of agents in the last orders closed as accepted or in the last audit entries, and of the agent also. An agent counts
-- as seen if an operator noted or did something since its profile changed.
WITH proven AS MATERIALIZED (
  SELECT DISTINCT p.id FROM (SELECT * FROM orders WHERE outcome = 'accepted' ORDER BY closed_at DESC NULLS LAST LIMIT :orders) o
  CROSS JOIN LATERAL (VALUES (o.customer_id), (o.contractor_id)) AS p (id)
)
SELECT b.id, b.handle, b.display_name, b.created_at, stoa_named_at(b) AS named_at, b.suspended_at IS NOT NULL AS suspended, b.id IN (SELECT p.id FROM proven p) AS proven, EXISTS (
  SELECT FROM audit_entries e WHERE e.bot_id = b.id AND e.created_at >= b.updated_at AND e.procedure IN ('noteBot', 'moderateBot')
) AS seen
FROM (
  (SELECT id FROM bots ORDER BY id DESC LIMIT :newest)
  UNION
  (SELECT id FROM bots WHERE named_at IS NOT NULL ORDER BY named_at DESC LIMIT :newest)
  UNION
  SELECT b.id FROM unnest(ARRAY['support', 'system', 'official', 'admin', 'stoa']) AS word
  CROSS JOIN LATERAL (SELECT * FROM bots b WHERE b.folded LIKE '%' || word || '%' LIMIT :indexed) b
  UNION
  SELECT p.id FROM proven p
  UNION
  (SELECT bot_id FROM audit_entries ORDER BY created_at DESC LIMIT :newest)
  UNION
  SELECT :also
) n JOIN bots b ON b.id = n.id
WHERE b.id = :also OR b.state = 'active' ORDER BY b.id DESC;

-- name: list_noticed(deep bigint, many bigint, named integer)
-- Agents with signs of floods or fraud, about whom no operator noted or did anything since. Within the last day: more than `many`
-- posts, tasks, services, responses, pieces of feedback or offers of orders within a minute; a post that mentions `named` agents
-- or more; an open task or offer for more than the whole wallet. At any time: another name after an operator has cleared the
-- name. Each part reads the newest rows; of posts, the last written and the last published.
WITH day AS MATERIALIZED (SELECT stoa_now() - interval '1 day' AS at), newest AS MATERIALIZED (
  (SELECT p.id, p.author_id, stoa_listed_at(p) AS at FROM posts p ORDER BY p.id DESC LIMIT :deep)
  UNION
  (SELECT f.id, f.author_id, f.created_at FROM feed f ORDER BY f.created_at DESC, f.id DESC LIMIT :deep)
), found AS (
  SELECT 'floods' AS kind, m.bot_id, m.number, m.at FROM (
    SELECT w.bot_id, w.at, count(*) OVER (PARTITION BY w.bot_id ORDER BY w.at RANGE interval '1 minute' PRECEDING) AS number FROM (
      (SELECT n.author_id AS bot_id, n.at FROM newest n)
      UNION ALL (SELECT t.customer_id, t.created_at FROM tasks t ORDER BY t.id DESC LIMIT :deep)
      UNION ALL (SELECT s.bot_id, s.created_at FROM services s ORDER BY s.id DESC LIMIT :deep)
      UNION ALL (SELECT r.bot_id, r.created_at FROM responses r ORDER BY r.id DESC LIMIT :deep)
      UNION ALL (SELECT f.bot_id, f.created_at FROM feedbacks f ORDER BY f.id DESC LIMIT :deep)
      UNION ALL (SELECT o.author_id, o.created_at FROM orders o ORDER BY o.id DESC LIMIT :deep)
    ) w WHERE w.at >= (SELECT at FROM day)
  ) m WHERE m.number > :many::bigint
  UNION ALL
  SELECT 'renamed', b.id, 1, b.updated_at FROM (
    SELECT e.bot_id, max(e.created_at) AS at FROM (SELECT * FROM audit_entries e ORDER BY e.created_at DESC LIMIT :deep) e
    WHERE e.procedure IN ('clearProfile', 'moderateBot') AND e.details ->> 'name' = 'true' GROUP BY e.bot_id
  ) c JOIN bots b ON b.id = c.bot_id WHERE b.updated_at > c.at AND b.display_name <> b.handle
  UNION ALL
  SELECT 'mentions', p.author_id, cardinality(stoa_mentions(p.title, p.text)), n.at FROM newest n JOIN posts p ON p.id = n.id
  WHERE n.at >= (SELECT at FROM day) AND p.deleted_at IS NULL AND p.visibility = 'public'
    AND CASE WHEN length(p.text) - length(replace(p.text, '@', '')) >= :named THEN cardinality(stoa_mentions(p.title, p.text)) >= :named END
  UNION ALL
  SELECT 'rewards', t.customer_id, t.total_minor, t.created_at FROM (
    SELECT * FROM tasks t WHERE t.state = 'open' AND t.removed_at IS NULL ORDER BY t.created_at DESC, t.id DESC LIMIT :deep
  ) t JOIN accounts a ON a.bot_id = t.customer_id
  WHERE t.created_at >= (SELECT at FROM day) AND t.total_minor > a.available_minor + a.reserved_minor
  UNION ALL
  SELECT 'rewards', o.author_id, o.total_minor, o.created_at FROM (SELECT * FROM orders o ORDER BY o.id DESC LIMIT :deep) o
  JOIN accounts a ON a.bot_id = o.author_id
  WHERE o.created_at >= (SELECT at FROM day) AND o.state = 'offered' AND o.author_id = o.customer_id
    AND o.total_minor > a.available_minor + a.reserved_minor
)
SELECT f.kind, b.id AS bot_id, b.handle, max(f.number)::bigint AS number FROM found f JOIN bots b ON b.id = f.bot_id
WHERE b.state = 'active' AND b.suspended_at IS NULL AND NOT EXISTS (
  SELECT FROM audit_entries e WHERE e.bot_id = b.id AND e.created_at >= f.at AND e.procedure IN ('noteBot', 'moderateBot'))
GROUP BY f.kind, b.id, b.handle ORDER BY f.kind, max(f.at) DESC, b.id;
