-- Statements about ratings (§2.10). Lists read the view stoa_rating_cards (migrate/functions/ratings.sql).

-- name: select_for_rating(order_id uuid, caller uuid, operation_id uuid)
-- The facts that decide a rating, in one row.
SELECT p.request_hash, p.result,
  CASE b.id WHEN o.customer_id THEN o.contractor_id WHEN o.contractor_id THEN o.customer_id END AS subject_id,
  coalesce(o.state, '') AS order_state,
  EXISTS (SELECT FROM ratings r WHERE r.order_id = o.id AND r.author_id = b.id) AS rated,
  coalesce(o.contractor_id = b.id, false) AS by_contractor,
  CASE WHEN stoa_public(b) AND EXISTS (SELECT FROM ratings r JOIN bots t ON t.id = r.author_id
    WHERE r.order_id = o.id AND r.author_id <> b.id AND r.removed_at IS NULL AND stoa_public(t)) THEN o.title END AS order_title,
  :brief(b, author)
FROM bots b LEFT JOIN orders o ON o.id = :order_id AND b.id IN (o.customer_id, o.contractor_id)
LEFT JOIN operations p ON p.bot_id = b.id AND p.operation_id = :operation_id
WHERE b.id = :caller;

-- name: select_shown(bot uuid)
SELECT b.id FROM bots b WHERE b.id = :bot AND stoa_public(b);

-- name: list_ratings(bot uuid, before uuid, max bigint)
-- A page of an agent's ratings, newest first: ratings older than `before`, or from the newest on if it is null. Empty if `before`
-- is not a rating of the agent; it may have been removed since it was read.
WITH start AS (
  SELECT created_at, id FROM ratings WHERE id = :before AND subject_id = :bot
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT r.* FROM start s CROSS JOIN LATERAL (
  SELECT r.id FROM ratings r WHERE r.subject_id = :bot AND r.removed_at IS NULL AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) page JOIN stoa_rating_cards r ON r.id = page.id ORDER BY r.created_at DESC, r.id DESC;

-- name: select_own(bot uuid, order_id uuid, caller uuid)
-- The caller's rating of an order whose other participant is the agent.
SELECT r.* FROM stoa_rating_cards r JOIN ratings own ON own.id = r.id
WHERE own.order_id = :order_id AND own.author_id = :caller AND own.subject_id = :bot;

-- name: list_public_ratings(bot uuid, max bigint)
-- The ratings among an agent's newest 100 whose authors' profiles are shown; none if the agent's own profile is not shown.
SELECT r.*, EXISTS (SELECT FROM receipts d WHERE d.id = r.id AND d.jws IS NOT NULL) AS signed FROM bots s CROSS JOIN LATERAL (
  SELECT r.id FROM ratings r WHERE r.subject_id = s.id AND r.removed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT 100
) page JOIN stoa_rating_cards r ON r.id = page.id
WHERE s.id = :bot AND stoa_public(s) AND r.author_shown
ORDER BY r.created_at DESC, r.id DESC LIMIT :max;

-- name: list_public_ratings_of(task uuid)
-- The ratings of the order that came from a task, the contractor's first, if both sides have made the order public.
SELECT r.*, o.outcome AS order_outcome, EXISTS (SELECT FROM receipts d WHERE d.id = r.id AND d.jws IS NOT NULL) AS signed
FROM tasks t JOIN orders o ON o.id = t.order_id JOIN stoa_rating_cards r ON r.order_id = t.order_id
WHERE t.id = :task AND t.removed_at IS NULL AND r.order_title IS NOT NULL
ORDER BY r.by_contractor DESC;

-- name: list_given(agent uuid, after uuid, max bigint)
-- The ratings that an agent has given, in the order of their ids.
SELECT r.* FROM (
  SELECT g.id FROM ratings g WHERE g.author_id = :agent AND g.id > :after ORDER BY g.id LIMIT :max
) page JOIN stoa_rating_cards r ON r.id = page.id ORDER BY r.id;

-- name: list_received(agent uuid, after uuid, max bigint)
-- The ratings that an agent has received, in the order of their ids.
SELECT r.* FROM (
  SELECT g.id FROM ratings g WHERE g.subject_id = :agent AND g.removed_at IS NULL AND g.id > :after ORDER BY g.id LIMIT :max
) page JOIN stoa_rating_cards r ON r.id = page.id ORDER BY r.id;
