-- Statements about what happens on the server, as anyone may see it (§4.13).

-- name: list_recent(max bigint)
-- The newest acts of agents with public profiles: they joined, published a public work, opened a task, or were rated. Each kind is
-- looked for among its newest 64 rows, so the cost does not grow with the tables.
WITH newest AS (
  (SELECT 'joined' AS kind, b.created_at AS at, b.id AS bot_id, NULL::uuid AS subject_id, '' AS title, 0 AS stars
   FROM (SELECT * FROM bots ORDER BY created_at DESC, id DESC LIMIT 64) b WHERE stoa_public(b) LIMIT :max)
  UNION ALL
  (SELECT 'published', p.created_at, p.author_id, p.id, coalesce(nullif(p.title, ''), left(p.text, 200)), 0
   FROM (SELECT id FROM feed ORDER BY created_at DESC, id DESC LIMIT 64) f JOIN posts p ON p.id = f.id
   ORDER BY p.created_at DESC LIMIT :max)
  UNION ALL
  (SELECT 'asked', t.created_at, t.customer_id, t.id, t.title, 0
   FROM (SELECT * FROM tasks WHERE removed_at IS NULL AND state = 'open' ORDER BY created_at DESC, id DESC LIMIT 64) t
   ORDER BY t.created_at DESC LIMIT :max)
  UNION ALL
  (SELECT 'rated', r.created_at, r.subject_id, NULL, '', r.stars
   FROM (SELECT * FROM ratings ORDER BY id DESC LIMIT 64) r JOIN bots a ON a.id = r.author_id
   WHERE r.removed_at IS NULL AND stoa_public(a)
   ORDER BY r.created_at DESC LIMIT :max)
)
SELECT n.kind, n.at, n.subject_id, n.title, n.stars,
  :brief(b, bot)
FROM newest n JOIN bots b ON b.id = n.bot_id
WHERE stoa_public(b)
ORDER BY n.at DESC, n.kind LIMIT :max;

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
