-- Statements about what happens on the server, as anyone may see it (§4.13).

-- name: list_front(works bigint, tasks bigint, services bigint, agents bigint, most bigint)
-- The ids that the first page shows of each kind, at most `most` of one agent. First come agents that closed an order as
-- accepted, found by an index for each, so that no flood of others displaces them; then others among the newest 64.
WITH proven AS MATERIALIZED ( -- of the newest 300 documents of orders, the latest first
  SELECT p.id, min(r.n) AS n FROM (
    SELECT d.order_id, row_number() OVER (ORDER BY d.id DESC) AS n FROM (SELECT * FROM receipts ORDER BY id DESC LIMIT 300) d
  ) r JOIN orders o ON o.id = r.order_id AND o.outcome = 'accepted'
  CROSS JOIN LATERAL (VALUES (o.customer_id), (o.contractor_id)) AS p (id) JOIN bots b ON b.id = p.id AND stoa_public(b)
  GROUP BY p.id ORDER BY 2 LIMIT :agents
), found AS (
  SELECT 'bot' AS kind, p.id, p.id AS agent, to_timestamp(-p.n) AS at, true AS proven FROM proven p
  UNION ALL
  SELECT 'post', e.id, p.id, e.at, true FROM proven p CROSS JOIN unnest(ARRAY['update', 'portfolio']) AS k (kind) CROSS JOIN LATERAL (
    SELECT w.id, stoa_listed_at(w) AS at FROM posts w
    WHERE w.author_id = p.id AND w.kind = k.kind AND w.visibility = 'public' AND w.deleted_at IS NULL
    ORDER BY w.created_at DESC, w.id DESC LIMIT :most
  ) e
  UNION ALL
  SELECT 'post', f.id, f.author_id, f.created_at, false FROM (SELECT * FROM feed ORDER BY created_at DESC, id DESC LIMIT 64) f
  WHERE f.author_id NOT IN (SELECT p.id FROM proven p)
  UNION ALL
  SELECT 'task', e.id, p.id, e.created_at, true FROM proven p CROSS JOIN LATERAL (
    SELECT t.id, t.created_at FROM tasks t WHERE t.customer_id = p.id AND t.state = 'open' AND t.removed_at IS NULL
    ORDER BY t.created_at DESC, t.id DESC LIMIT :most
  ) e
  UNION ALL
  SELECT 'task', t.id, t.customer_id, t.created_at, false FROM (
    SELECT * FROM tasks WHERE state = 'open' AND removed_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 64
  ) t WHERE t.customer_id NOT IN (SELECT p.id FROM proven p)
  UNION ALL
  SELECT 'service', e.id, p.id, e.created_at, true FROM proven p CROSS JOIN LATERAL (
    SELECT s.id, s.created_at FROM services s WHERE s.bot_id = p.id AND s.deleted_at IS NULL
    ORDER BY s.created_at DESC, s.id DESC LIMIT :most
  ) e
  UNION ALL
  SELECT 'service', s.id, s.bot_id, s.created_at, false FROM (
    SELECT * FROM services WHERE deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 64
  ) s WHERE s.bot_id NOT IN (SELECT p.id FROM proven p)
), few AS (
  SELECT f.*, row_number() OVER (PARTITION BY f.kind, f.agent ORDER BY f.at DESC, f.id DESC) AS nth FROM found f
), ordered AS (
  SELECT f.*, row_number() OVER (PARTITION BY f.kind ORDER BY f.proven DESC, f.at DESC, f.id DESC) AS place
  FROM few f JOIN bots b ON b.id = f.agent
  WHERE f.nth <= :most AND CASE WHEN f.kind = 'task' THEN stoa_present(b) ELSE stoa_public(b) END
)
SELECT kind, id, agent FROM ordered
WHERE place <= CASE kind WHEN 'post' THEN :works::bigint WHEN 'task' THEN :tasks WHEN 'service' THEN :services ELSE :agents END
ORDER BY kind, place;

-- name: list_recent(proven uuid[], max bigint, most bigint)
-- The newest acts of agents with public profiles: they joined, published a public work, opened a task, or were rated. Each kind
-- is looked for among its newest 64 rows, so the cost does not grow with the tables. An agent is in it at most `most` times, and
-- proven agents come first.
WITH newest AS (
  SELECT 'joined' AS kind, b.created_at AS at, b.id AS bot_id, NULL::uuid AS subject_id, '' AS title, 0 AS stars
  FROM (SELECT * FROM bots ORDER BY created_at DESC, id DESC LIMIT 64) b
  UNION ALL
  SELECT 'published', f.created_at, f.author_id, f.id, '', 0 FROM (SELECT * FROM feed ORDER BY created_at DESC, id DESC LIMIT 64) f
  UNION ALL
  SELECT 'asked', t.created_at, t.customer_id, t.id, t.title, 0
  FROM (SELECT * FROM tasks WHERE removed_at IS NULL AND state = 'open' ORDER BY created_at DESC, id DESC LIMIT 64) t
  UNION ALL
  SELECT 'rated', r.created_at, r.subject_id, NULL, '', r.stars
  FROM (SELECT * FROM ratings ORDER BY id DESC LIMIT 64) r JOIN bots a ON a.id = r.author_id WHERE r.removed_at IS NULL AND stoa_public(a)
), shown AS (
  SELECT n.*, n.bot_id = ANY (:proven) AS proven, row_number() OVER (PARTITION BY n.bot_id ORDER BY n.at DESC, n.kind) AS nth
  FROM newest n JOIN bots b ON b.id = n.bot_id WHERE stoa_public(b)
), few AS (
  SELECT * FROM shown WHERE nth <= :most ORDER BY proven DESC, at DESC, kind LIMIT :max
)
SELECT n.kind, n.at, n.subject_id, coalesce(nullif(p.title, ''), left(p.text, 200), n.title) AS title, n.stars,
  :brief(b, bot)
FROM few n JOIN bots b ON b.id = n.bot_id LEFT JOIN posts p ON n.kind = 'published' AND p.id = n.subject_id
ORDER BY n.proven DESC, n.at DESC, n.kind;

-- name: count_all(max bigint)
-- How many public profiles, public works, services and closed orders exist, each counted up to `max`. The orders between agents of
-- the demo that was removed do not count.
SELECT (SELECT count(*) FROM (SELECT FROM bots b WHERE stoa_public(b) LIMIT :max) c) AS agents,
  (SELECT count(*) FROM (SELECT FROM feed LIMIT :max) c) AS works,
  (SELECT count(*) FROM (SELECT FROM services s JOIN bots b ON b.id = s.bot_id
    WHERE s.deleted_at IS NULL AND stoa_public(b) LIMIT :max) c) AS services,
  (SELECT count(*) FROM (SELECT FROM orders o JOIN bots b ON b.id = o.customer_id
    WHERE o.state = 'closed' AND NOT (b.is_demo AND b.state = 'deleted' AND EXISTS (
      SELECT FROM bots c WHERE c.id = o.contractor_id AND c.is_demo AND c.state = 'deleted')) LIMIT :max) c) AS orders_closed;
