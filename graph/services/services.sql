-- Statements about services (§2.9, §4.9). A page is found by ids alone, and only then read from the view stoa_service_cards
-- (migrate/functions/services.sql), each card by its id: OFFSET 0 prevents the planner, which does not know how short a page is,
-- from reading whole tables. A small index of hidden agents excludes their services.

-- name: select_service(service uuid)
SELECT s.* FROM stoa_service_cards s WHERE s.id = :service;

-- name: select_public_service(service uuid)
SELECT s.* FROM stoa_service_cards s WHERE s.id = :service AND s.shown;

-- name: select_some_services(services uuid[])
-- The given services that everyone sees, in the order of the ids.
SELECT s.* FROM unnest(:services::uuid[]) WITH ORDINALITY AS e (id, n)
CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = e.id OFFSET 0) s WHERE s.shown ORDER BY e.n;

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
-- The services of one agent that contain q, while others see the agent; all if q is empty.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM services r JOIN bots b ON b.id = r.bot_id
  WHERE r.bot_id = :bot AND r.deleted_at IS NULL AND stoa_public(b) AND strpos(r.folded, stoa_fold(:q)) > 0
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT s.* FROM page CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = page.id OFFSET 0) s
ORDER BY page.created_at DESC, page.id DESC;

-- text: service_page
-- The end of a search: the page of the services r that contain the text, and its cards.
r.deleted_at IS NULL AND (SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL
    AND r.bot_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT s.* FROM page CROSS JOIN LATERAL (SELECT c.* FROM stoa_service_cards c WHERE c.id = page.id OFFSET 0) s
ORDER BY page.created_at DESC, page.id DESC

-- name: walk_services(caller uuid, q text, walked bigint, skip bigint, max bigint)
/* plan per value */
-- The package comment of search explains both ways to a page. Each ORDER BY is the order of its input, so the planner keeps that
-- order and reading stops when the page is full.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM services r WHERE r.deleted_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT :walked
  ) r WHERE strpos(r.folded, (SELECT stoa_fold(:q))) > 0 AND :service_page;

-- name: find_services(caller uuid, q text, skip bigint, max bigint)
/* plan per value */
-- OFFSET 0 separates the condition that the index must answer from the others, for which the planner could take another index.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM services r WHERE CASE WHEN r.deleted_at IS NULL THEN r.folded END LIKE (SELECT stoa_pattern(:q)) OFFSET 0
  ) r WHERE :service_page;

-- name: select_standing(caller uuid, bots uuid[])
-- Whether an agent may take on obligations, and its contacts with others: a row for each contact, or one row without a contact.
SELECT stoa_active(m) AS active, c.requester_id, c.recipient_id, coalesce(c.state, '') AS state FROM bots m
LEFT JOIN LATERAL (
  SELECT c.* FROM unnest(:bots::uuid[]) AS b (id) JOIN contacts c ON c.low_id = least(b.id, m.id) AND c.high_id = greatest(b.id, m.id)
) c ON true WHERE m.id = :caller;

-- name: list_own_services(agent uuid, after uuid, max bigint)
-- The services of an agent in the order of their ids, its profile open or closed.
SELECT s.* FROM (
  SELECT r.id FROM services r WHERE r.bot_id = :agent AND r.deleted_at IS NULL AND r.id > :after ORDER BY r.id LIMIT :max
) page JOIN stoa_service_cards s ON s.id = page.id ORDER BY s.id;
