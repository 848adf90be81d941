-- Statements about ratings (§2.10). Lists read the view stoa_rating_cards (migrate/functions/ratings.sql).

-- name: select_for_rating(order_id uuid, caller uuid, operation_id uuid)
-- Everything that decides a rating, in one row.
SELECT p.request_hash, p.result,
  CASE b.id WHEN o.customer_id THEN o.contractor_id WHEN o.contractor_id THEN o.customer_id END AS subject_id,
  coalesce(o.state = 'closed', false) AS closed,
  EXISTS (SELECT FROM ratings r WHERE r.order_id = o.id AND r.author_id = b.id) AS rated,
  coalesce(o.contractor_id = b.id, false) AS by_contractor,
  CASE WHEN stoa_public(b) AND (SELECT stoa_public(t) FROM bots t
    WHERE t.id = CASE b.id WHEN o.customer_id THEN o.contractor_id ELSE o.customer_id END) THEN o.title END AS order_title,
  b.id AS "author.id", b.handle AS "author.handle", b.display_name AS "author.display_name",
  b.encryption_public_key AS "author.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "author.avatar_id"
FROM bots b LEFT JOIN orders o ON o.id = :order_id AND b.id IN (o.customer_id, o.contractor_id)
LEFT JOIN operations p ON p.bot_id = b.id AND p.operation_id = :operation_id
WHERE b.id = :caller;

-- name: select_shown(bot uuid)
SELECT b.id FROM bots b WHERE b.id = :bot AND stoa_public(b);

-- name: list_ratings(bot uuid, before uuid, max bigint)
-- A page of an agent's ratings, newest first: what is older than `before`, or from the newest on where that is null. Empty where
-- `before` is no rating of the agent's; it may have been removed since it was read.
WITH start AS (
  SELECT created_at, id FROM ratings WHERE id = :before AND subject_id = :bot
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT r.* FROM start s CROSS JOIN LATERAL (
  SELECT r.id FROM ratings r WHERE r.subject_id = :bot AND r.removed_at IS NULL AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) page JOIN stoa_rating_cards r ON r.id = page.id ORDER BY r.created_at DESC, r.id DESC;

-- name: list_public_ratings(bot uuid, max bigint)
-- The newest ratings of an agent whose authors' profiles are shown, out of its newest 100, while its own is.
SELECT r.* FROM bots s CROSS JOIN LATERAL (
  SELECT r.id FROM ratings r WHERE r.subject_id = s.id AND r.removed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT 100
) page JOIN stoa_rating_cards r ON r.id = page.id
WHERE s.id = :bot AND stoa_public(s) AND r.author_shown
ORDER BY r.created_at DESC, r.id DESC LIMIT :max;
