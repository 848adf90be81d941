-- Statements about services (§2.9, §4.9). A page is found by ids alone, and only then read from the view stoa_service_cards
-- (migrate/functions/services.sql), each card by its id: OFFSET 0 keeps the planner, which does not know how short a page is, from
-- reading whole tables. Services of agents that others do not see
-- are left out by the small index of those agents.

-- name: select_service(service uuid)
SELECT s.* FROM stoa_service_cards s WHERE s.id = :service;

-- name: select_public_service(service uuid)
SELECT s.* FROM stoa_service_cards s WHERE s.id = :service AND s.shown;

-- name: list_services(caller uuid, skip bigint, max bigint)
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM services r
  WHERE r.deleted_at IS NULL AND (SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL
    AND r.bot_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT s.* FROM page CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = page.id OFFSET 0) s
ORDER BY page.created_at DESC, page.id DESC;

-- name: list_services_of(bot uuid, q text, skip bigint, max bigint)
-- The services of one agent, while others see it, that hold q; all if q is empty.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM services r JOIN bots b ON b.id = r.bot_id
  WHERE r.bot_id = :bot AND r.deleted_at IS NULL AND stoa_public(b) AND strpos(r.folded, lower(:q)) > 0
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT s.* FROM page CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = page.id OFFSET 0) s
ORDER BY page.created_at DESC, page.id DESC;

-- name: search_services(caller uuid, q text, skip integer, max integer)
/* plan per value */
-- The package comment of search explains how the text is found. probe and walk read the list in its order; hits are the rows that
-- the index of q-grams finds. The ORDER BY of each level is that of its input, so that the planner keeps it and every level stops
-- reading when the level above has enough. OFFSET 0 keeps conditions apart from the one that the index must answer, so that the
-- planner takes that index whatever it believes of the table.
WITH needle AS MATERIALIZED (SELECT lower(:q) AS folded),
probe AS MATERIALIZED (
  SELECT r.id FROM (SELECT r.* FROM services r WHERE r.deleted_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT 64) r
  WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
    AND (SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL
    AND r.bot_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k) LIMIT 1
),
walk AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM services r WHERE r.deleted_at IS NULL AND (SELECT true FROM probe)
    ORDER BY r.created_at DESC, r.id DESC LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
  ) r
  WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
    AND (SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL
    AND r.bot_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY r.created_at DESC, r.id DESC LIMIT (:skip::integer + :max::integer)
),
rare AS MATERIALIZED (SELECT count(*) < (:skip::integer + :max::integer) AS yes FROM walk),
hits AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM services r
    WHERE (SELECT yes FROM rare)
      AND stoa_qgrams(CASE WHEN r.deleted_at IS NULL THEN r.folded END) @@ (SELECT stoa_qgram_query(folded) FROM needle) OFFSET 0
  ) r WHERE r.deleted_at IS NULL
),
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    SELECT id, created_at FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT hit.id, hit.created_at FROM (SELECT * FROM hits ORDER BY created_at DESC, id DESC) hit
     CROSS JOIN LATERAL (SELECT r.* FROM services r WHERE r.id = hit.id OFFSET 0) r
     WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
       AND (SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL
       AND r.bot_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
     ORDER BY hit.created_at DESC, hit.id DESC LIMIT (:skip::integer + :max::integer))
  ) found ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
)
SELECT s.* FROM page CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = page.id OFFSET 0) s
ORDER BY page.created_at DESC, page.id DESC;

-- name: select_standing(caller uuid, bots uuid[])
-- Whether an agent may take on obligations, and its contacts with others: a row each, or one without a contact.
SELECT stoa_active(m) AS active, c.requester_id, c.recipient_id, coalesce(c.state, '') AS state FROM bots m
LEFT JOIN LATERAL (
  SELECT c.* FROM unnest(:bots::uuid[]) AS b (id) JOIN contacts c ON c.low_id = least(b.id, m.id) AND c.high_id = greatest(b.id, m.id)
) c ON true WHERE m.id = :caller;

-- name: list_own_services(agent uuid, after uuid, max bigint)
-- The services of an agent in the order of their ids, its profile open or closed.
SELECT s.* FROM (
  SELECT r.id FROM services r WHERE r.bot_id = :agent AND r.deleted_at IS NULL AND r.id > :after ORDER BY r.id LIMIT :max
) page JOIN stoa_service_cards s ON s.id = page.id ORDER BY s.id;
