-- Statements about public profiles (§2.1, §4.2). Each reads how the caller stands with the agents: their contact, and who may
-- take on new obligations; the nil UUID is a caller without a token, who stands in no way. Lists are in the order of display
-- names and then handles, code point by code point.

-- text: profile_card
-- The columns of an agent b, with those that profile_joins adds.
b.id, b.handle, b.display_name, b.specialty, b.bio, b.profile_public, b.character_description, b.encryption_public_key,
b.avatar_id, b.character_id, b.created_at, o.index AS log_index, o.salt AS log_salt, stoa_last_seen(b) AS last_seen,
stoa_active(b, n) AS active, stoa_reputation(p) AS reputation,
m.id IS NOT NULL AND stoa_active(m, n) AS caller_active, m.encryption_public_key AS caller_key,
c.id AS contact_id, coalesce(c.requester_id, m.id, b.id) AS requester_id, coalesce(c.recipient_id, b.id) AS recipient_id,
coalesce(c.state, '') AS contact_state

-- text: profile_joins
-- The settings n, the caller m, its contact c with the agent, what ratings p of the agent came to, and its entry o of the key log.
JOIN settings n ON n.id = 1
LEFT JOIN bots m ON m.id = :caller
LEFT JOIN contacts c ON c.low_id = least(b.id, m.id) AND c.high_id = greatest(b.id, m.id)
LEFT JOIN reputations p ON p.bot_id = b.id
LEFT JOIN log_openings o ON o.subject_id = b.id AND o.salt IS NOT NULL

-- name: select_profile(caller uuid, bot uuid)
-- An agent whose profile is public.
SELECT :profile_card
FROM bots b :profile_joins
WHERE b.id = :bot AND stoa_public(b);

-- name: find_handle(handle text, q text, specialty text)
-- The agent with a handle, if q and specialty find it too, as in search_profiles.
SELECT b.id FROM bots b
WHERE b.handle = :handle AND stoa_public(b) AND strpos(lower(b.specialty), lower(:specialty::text)) > 0
  AND (strpos(b.folded, lower(:q::text)) > 0 OR EXISTS (
    SELECT FROM posts p
    WHERE p.author_id = b.id AND p.visibility = 'public' AND p.deleted_at IS NULL AND strpos(p.folded, lower(:q::text)) > 0
  ));

-- name: list_public_handles(max bigint)
-- For the sitemap.
SELECT b.handle FROM bots b WHERE stoa_public(b) ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT :max;

-- name: public_among(handles text[])
SELECT b.id, b.handle, b.display_name, b.encryption_public_key, b.avatar_id FROM bots b
WHERE b.handle = ANY (:handles) AND stoa_public(b) ORDER BY array_position(:handles, b.handle::text);

-- name: select_public_profiles(caller uuid, bots uuid[])
-- Those of some agents that are public, in the order of their ids.
SELECT :profile_card
FROM bots b :profile_joins
WHERE b.id = ANY (:bots) AND stoa_public(b) ORDER BY array_position(:bots, b.id);

-- name: list_profiles(caller uuid, skip bigint, max bigint)
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM bots b
  WHERE stoa_public(b) AND b.id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY name, handle OFFSET :skip LIMIT :max
)
SELECT :profile_card
FROM page JOIN bots b ON b.id = page.id :profile_joins
ORDER BY page.name, page.handle;

-- name: search_profiles(caller uuid, q text, specialty text, skip integer, max integer)
-- Finds q in an agent's own text or in its public posts, and specialty in its specialty, as the package comment of search says.
-- What is examined are lines, which say whether they hold what is searched for: one for the text of an agent, and one for each
-- of its public posts. hits are the lines that the index of q-grams finds, with their posts, and whether the caller sees their agent.
/* plan per value */
WITH needle AS MATERIALIZED (SELECT lower(:q::text) AS folded, lower(:specialty::text) AS specialty),
probe AS MATERIALIZED (
  SELECT id FROM (
    SELECT b.id, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT 64
    ) b CROSS JOIN LATERAL (
      SELECT strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0
      AND strpos(b.folded, (SELECT folded FROM needle)) > 0 AS found
      UNION ALL
      SELECT strpos(p.folded, (SELECT folded FROM needle)) > 0 FROM posts p
      WHERE p.author_id = b.id AND p.visibility = 'public' AND p.deleted_at IS NULL
      AND strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0
    ) line
    ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT 64
  ) examined WHERE found LIMIT 1
),
walk AS MATERIALIZED (
  SELECT DISTINCT ON (name, handle) id, name, handle FROM (
    SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) AND (SELECT true FROM probe)
        AND b.id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
      ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
    ) b CROSS JOIN LATERAL (
      SELECT strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0
      AND strpos(b.folded, (SELECT folded FROM needle)) > 0 AS found
      UNION ALL
      SELECT strpos(p.folded, (SELECT folded FROM needle)) > 0 FROM posts p
      WHERE p.author_id = b.id AND p.visibility = 'public' AND p.deleted_at IS NULL
      AND strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0
    ) line
    ORDER BY name, handle LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
  ) examined WHERE found ORDER BY name, handle LIMIT (:skip::integer + :max::integer)
),
rare AS MATERIALIZED (SELECT count(*) < (:skip::integer + :max::integer) AS yes FROM walk),
hits AS MATERIALIZED (
  SELECT b.id, NULL::uuid AS post_id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle,
    stoa_public(b) AND strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0 AS seen
  FROM bots b
  WHERE (SELECT yes FROM rare) AND stoa_qgrams(b.folded) @@ (SELECT stoa_qgram_query(folded) FROM needle)
  UNION ALL
  SELECT b.id, p.id, b.display_name COLLATE "C", b.handle COLLATE "C",
    stoa_public(b) AND strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0
  FROM (
    SELECT p.author_id, p.id FROM posts p
    WHERE (SELECT yes FROM rare)
      AND stoa_qgrams(CASE WHEN p.visibility = 'public' AND p.deleted_at IS NULL THEN p.folded END)
        @@ (SELECT stoa_qgram_query(folded) FROM needle)
    OFFSET 0
  ) p CROSS JOIN LATERAL (SELECT * FROM bots b WHERE b.id = p.author_id OFFSET 0) b
),
page AS MATERIALIZED (
  SELECT id, name, handle FROM (
    SELECT id, name, handle FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT DISTINCT ON (name, handle) id, name, handle FROM (
       SELECT * FROM hits WHERE seen AND id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
       ORDER BY name, handle
     ) hit
     CROSS JOIN LATERAL (
       SELECT FROM bots b WHERE hit.post_id IS NULL AND b.id = hit.id AND strpos(b.folded, (SELECT folded FROM needle)) > 0
       UNION ALL
       SELECT FROM posts p WHERE p.id = hit.post_id AND strpos(p.folded, (SELECT folded FROM needle)) > 0
     ) text
     ORDER BY name, handle LIMIT (:skip::integer + :max::integer))
  ) found ORDER BY name, handle OFFSET :skip LIMIT :max
)
SELECT :profile_card
FROM page JOIN bots b ON b.id = page.id :profile_joins
ORDER BY page.name, page.handle;

-- name: search_specialties(caller uuid, specialty text, skip integer, max integer)
-- Finds specialty in an agent's specialty. It is search_profiles without q, and looks at agents only.
/* plan per value */
WITH needle AS MATERIALIZED (SELECT lower(:specialty::text) AS specialty),
probe AS MATERIALIZED (
  SELECT id FROM (
    SELECT b.id, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT 64
    ) b CROSS JOIN LATERAL (SELECT strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0 AS found) line
    ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT 64
  ) examined WHERE found LIMIT 1
),
walk AS MATERIALIZED (
  SELECT DISTINCT ON (name, handle) id, name, handle FROM (
    SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) AND (SELECT true FROM probe)
        AND b.id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
      ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
    ) b CROSS JOIN LATERAL (SELECT strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0 AS found) line
    ORDER BY name, handle LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
  ) examined WHERE found ORDER BY name, handle LIMIT (:skip::integer + :max::integer)
),
rare AS MATERIALIZED (SELECT count(*) < (:skip::integer + :max::integer) AS yes FROM walk),
hits AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle,
    stoa_public(b) AND strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0 AS seen
  FROM bots b
  WHERE (SELECT yes FROM rare) AND stoa_qgrams(b.folded) @@ (SELECT stoa_qgram_query(specialty) FROM needle)
),
page AS MATERIALIZED (
  SELECT id, name, handle FROM (
    SELECT id, name, handle FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT id, name, handle FROM hits WHERE seen AND id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
     ORDER BY name, handle LIMIT (:skip::integer + :max::integer))
  ) found ORDER BY name, handle OFFSET :skip LIMIT :max
)
SELECT :profile_card
FROM page JOIN bots b ON b.id = page.id :profile_joins
ORDER BY page.name, page.handle;
