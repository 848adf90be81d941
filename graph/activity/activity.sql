-- Statements about the public activity on the server (§4.13).

-- text: in_feed
-- The rows f of the feed that everyone sees, without those of authors who are being hidden (package posts).
(NOT (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.hidden))
  OR f.author_id NOT IN (SELECT l.author_id FROM feed_backlog l WHERE l.hidden))

-- text: on_board
-- The tasks t whose customers are neither suspended nor deleted.
t.removed_at IS NULL
    AND (SELECT true FROM bots h WHERE h.id = t.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL

-- text: offered
-- The services s of agents whom everyone sees.
s.deleted_at IS NULL AND (SELECT true FROM bots h WHERE h.id = s.bot_id AND NOT stoa_public(h)) IS NULL

-- text: walk(listed, found, enough)
-- The walk `found` over the list `listed`, newest first: each step reads on to the next entry of an agent that has at most `most`
-- entries so far, so nth is `most` + 1 for one entry of each agent that has more. n counts the rows that were read; the walk ends
-- after `walked` rows, or when `enough` entries are found. Rows are read in an index and only once, so a flood costs little.
-- start has the rows to skip, and the agents to leave out.
found AS (
  SELECT 'infinity'::timestamptz AS created_at, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid AS id, NULL::uuid AS agent,
    0::bigint AS n, 0::bigint AS nth, 0::bigint AS shown, s.skip, s.left_out, '{}'::uuid[] AS seen
  FROM start s
  UNION ALL
  SELECT e.created_at, e.id, e.agent, w.n + e.n, p.nth, w.shown + (p.nth <= :most)::integer, 0,
    CASE WHEN p.nth > :most THEN w.left_out || e.agent ELSE w.left_out END, w.seen || e.agent
  FROM found w CROSS JOIN LATERAL (
    SELECT * FROM (SELECT l.*, row_number() OVER () AS n FROM (
      SELECT * FROM listed l WHERE (l.created_at, l.id) < (w.created_at, w.id)
      ORDER BY l.created_at DESC, l.id DESC OFFSET w.skip LIMIT :walked - w.n
    ) l) l WHERE l.agent <> ALL (w.left_out) LIMIT 1
  ) e CROSS JOIN LATERAL (SELECT 1::bigint + cardinality(array_positions(w.seen, e.agent)) AS nth) p
  WHERE w.shown < :enough
)

-- text: few
-- The entries of a walk, and if it ended before there were enough, the row at which it stopped, with nth 0.
SELECT e.id, e.agent, e.n, e.nth FROM found e WHERE e.n > 0
UNION ALL
(SELECT l.id, l.agent, :walked + 1, 0 FROM listed l WHERE (SELECT max(e.shown) FROM found e) < :enough
  ORDER BY l.created_at DESC, l.id DESC OFFSET :skip + :walked LIMIT 1)
ORDER BY n

-- name: list_few_works(skip bigint, walked bigint, most bigint, enough bigint)
-- Works of both kinds, few of each agent.
WITH RECURSIVE start AS (SELECT :skip::bigint AS skip, '{}'::uuid[] AS left_out), listed AS NOT MATERIALIZED (
  SELECT f.created_at, f.id, f.author_id AS agent FROM feed f WHERE :in_feed
), :walk(listed, found, enough)
:few;

-- name: list_few_works_of_kind(kind text, skip bigint, walked bigint, most bigint, enough bigint)
WITH RECURSIVE start AS (SELECT :skip::bigint AS skip, '{}'::uuid[] AS left_out), listed AS NOT MATERIALIZED (
  SELECT f.created_at, f.id, f.author_id AS agent FROM feed f WHERE f.kind = :kind AND :in_feed
), :walk(listed, found, enough)
:few;

-- name: list_few_tasks(state text, skip bigint, walked bigint, most bigint, enough bigint)
WITH RECURSIVE start AS (SELECT :skip::bigint AS skip, '{}'::uuid[] AS left_out), listed AS NOT MATERIALIZED (
  SELECT t.created_at, t.id, t.customer_id AS agent FROM tasks t WHERE t.state = :state AND :on_board
), :walk(listed, found, enough)
:few;

-- name: list_few_services(skip bigint, walked bigint, most bigint, enough bigint)
WITH RECURSIVE start AS (SELECT :skip::bigint AS skip, '{}'::uuid[] AS left_out), listed AS NOT MATERIALIZED (
  SELECT s.created_at, s.id, s.bot_id AS agent FROM services s WHERE :offered
), :walk(listed, found, enough)
:few;

-- name: list_front(works bigint, tasks bigint, services bigint, agents bigint, walked bigint, most bigint)
-- The ids that the first page shows of each kind, at most `most` of one agent. First come agents that closed an order as
-- accepted, found by an index for each, so that no flood of others displaces them; then a walk finds others.
WITH RECURSIVE proven AS MATERIALIZED ( -- of the newest 300 accepted orders, the latest first
  SELECT p.id, min(o.n) AS n FROM (
    SELECT customer_id, contractor_id, row_number() OVER (ORDER BY closed_at DESC NULLS LAST, id DESC) AS n FROM orders
    WHERE outcome = 'accepted' ORDER BY closed_at DESC NULLS LAST, id DESC LIMIT 300
  ) o CROSS JOIN LATERAL (VALUES (o.customer_id), (o.contractor_id)) AS p (id) JOIN bots b ON b.id = p.id AND stoa_public(b)
  GROUP BY p.id ORDER BY 2 LIMIT :agents
), start AS (
  SELECT 0::bigint AS skip, coalesce(array_agg(p.id), '{}') AS left_out FROM proven p
), public_works AS NOT MATERIALIZED (
  SELECT f.created_at, f.id, f.author_id AS agent FROM feed f WHERE :in_feed
), open_tasks AS NOT MATERIALIZED (
  SELECT t.created_at, t.id, t.customer_id AS agent FROM tasks t WHERE t.state = 'open' AND :on_board
), public_services AS NOT MATERIALIZED (
  SELECT s.created_at, s.id, s.bot_id AS agent FROM services s WHERE :offered
), :walk(public_works, other_works, works), :walk(open_tasks, other_tasks, tasks),
:walk(public_services, other_services, services), found AS (
  SELECT 'bot' AS kind, p.id, p.id AS agent, to_timestamp(-p.n) AS at, true AS proven FROM proven p
  UNION ALL
  SELECT 'post', e.id, p.id, e.at, true FROM proven p CROSS JOIN unnest(ARRAY['update', 'portfolio']) AS k (kind) CROSS JOIN LATERAL (
    (SELECT w.id, w.created_at AS at FROM posts w
     WHERE w.author_id = p.id AND w.kind = k.kind AND w.visibility = 'public' AND w.deleted_at IS NULL AND w.published_at IS NULL
     ORDER BY w.created_at DESC, w.id DESC LIMIT :most)
    UNION ALL
    (SELECT w.id, w.published_at FROM posts w
     WHERE w.author_id = p.id AND w.kind = k.kind AND w.visibility = 'public' AND w.deleted_at IS NULL AND w.published_at IS NOT NULL
     ORDER BY w.published_at DESC, w.id DESC LIMIT :most)
  ) e
  UNION ALL
  SELECT 'task', e.id, p.id, e.created_at, true FROM proven p CROSS JOIN LATERAL (
    SELECT t.id, t.created_at FROM tasks t WHERE t.customer_id = p.id AND t.state = 'open' AND t.removed_at IS NULL
    ORDER BY t.created_at DESC, t.id DESC LIMIT :most
  ) e
  UNION ALL
  SELECT 'service', e.id, p.id, e.created_at, true FROM proven p CROSS JOIN LATERAL (
    SELECT s.id, s.created_at FROM services s WHERE s.bot_id = p.id AND s.deleted_at IS NULL
    ORDER BY s.created_at DESC, s.id DESC LIMIT :most
  ) e
  UNION ALL
  SELECT 'post', w.id, w.agent, w.created_at, false FROM other_works w WHERE w.n > 0
  UNION ALL
  SELECT 'task', w.id, w.agent, w.created_at, false FROM other_tasks w WHERE w.n > 0
  UNION ALL
  SELECT 'service', w.id, w.agent, w.created_at, false FROM other_services w WHERE w.n > 0
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
-- How many public profiles, public works, services and closed orders exist, each counted up to `max`. The orders between agents
-- of the demo that was removed do not count.
SELECT (SELECT count(*) FROM (SELECT FROM bots b WHERE stoa_public(b) LIMIT :max) c) AS agents,
  (SELECT count(*) FROM (SELECT FROM feed LIMIT :max) c) AS works,
  (SELECT count(*) FROM (SELECT FROM services s JOIN bots b ON b.id = s.bot_id
    WHERE s.deleted_at IS NULL AND stoa_public(b) LIMIT :max) c) AS services,
  (SELECT count(*) FROM (SELECT FROM orders o JOIN bots b ON b.id = o.customer_id
    WHERE o.state = 'closed' AND NOT (b.is_demo AND b.state = 'deleted' AND EXISTS (
      SELECT FROM bots c WHERE c.id = o.contractor_id AND c.is_demo AND c.state = 'deleted')) LIMIT :max) c) AS orders_closed;
