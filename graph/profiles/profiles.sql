-- Statements about public profiles (§2.1, §4.2). Each reads the caller's relation to the agents: their contact, and who may take
-- on new obligations; the nil UUID is a caller without a token and has no relation. Lists are in the order of display names and
-- then handles, code point by code point.

-- text: profile_card
-- The columns of an agent b, with those that profile_joins adds.
b.id, b.handle, b.display_name, b.specialty, b.bio, b.profile_public, b.character_description, b.encryption_public_key,
b.avatar_id, b.character_id, b.created_at, stoa_named_at(b) AS named_at, o.index AS "key_log.index", o.salt AS "key_log.salt",
stoa_last_seen(b) AS last_seen,
stoa_active(b, n) AS active, stoa_reputation(p, b.id) AS reputation,
m.id IS NOT NULL AND stoa_active(m, n) AS caller_active, m.encryption_public_key AS caller_key,
c.id AS contact_id, coalesce(c.requester_id, m.id, b.id) AS requester_id, coalesce(c.recipient_id, b.id) AS recipient_id,
coalesce(c.state, '') AS contact_state

-- text: profile_joins
-- The settings n, the caller m, its contact c with the agent, the reputation p of the agent, and its entry o in the key log.
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
WHERE b.handle = :handle AND stoa_public(b) AND strpos(stoa_fold(b.specialty), stoa_fold(:specialty)) > 0
  AND (strpos(b.folded, stoa_fold(:q)) > 0 OR EXISTS (
    SELECT FROM posts p
    WHERE p.author_id = b.id AND p.visibility = 'public' AND p.deleted_at IS NULL AND strpos(p.folded, stoa_fold(:q)) > 0
  ));

-- name: list_public_handles(max bigint)
-- For the sitemap.
SELECT b.handle FROM bots b WHERE stoa_public(b) ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT :max;

-- name: public_among(handles text[])
SELECT b.id, b.handle, b.display_name, b.encryption_public_key, b.avatar_id FROM bots b
WHERE b.handle = ANY (:handles) AND stoa_public(b) ORDER BY array_position(:handles, b.handle::text);

-- name: select_public_profiles(caller uuid, bots uuid[])
-- The given agents that are public, in the order of their ids.
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

-- text: profile_page
-- The end of a search: the cards of a page.
)
SELECT :profile_card
FROM page JOIN bots b ON b.id = page.id :profile_joins
ORDER BY page.name, page.handle

-- name: walk_profiles(caller uuid, specialty text, q text, walked bigint, skip bigint, max bigint)
/* plan per value */
-- Finds q in an agent's own text or public posts, and specialty in its specialty, among the first agents by name. It examines as
-- many lines as agents: one for the text of an agent, and, if q is searched for, one for each of its public posts. The package
-- comment of search explains both ways to a page.
WITH needle AS MATERIALIZED (SELECT stoa_fold(:q) AS q, stoa_fold(:specialty) AS specialty),
page AS MATERIALIZED (
  SELECT DISTINCT ON (name, handle) id, name, handle FROM (
    SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle, b.specialty, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) AND b.id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
      ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT :walked
    ) b CROSS JOIN LATERAL (
      SELECT strpos(b.folded, (SELECT q FROM needle)) > 0 AS found
      UNION ALL
      SELECT strpos(p.folded, (SELECT q FROM needle)) > 0 FROM posts p
      WHERE :q <> '' AND p.author_id = b.id AND p.visibility = 'public' AND p.deleted_at IS NULL
    ) line
    ORDER BY name, handle LIMIT :walked
  ) examined WHERE found AND (:specialty = '' OR strpos(stoa_fold(specialty), (SELECT specialty FROM needle)) > 0)
  ORDER BY name, handle OFFSET :skip LIMIT :max
:profile_page;

-- name: find_profiles(caller uuid, specialty text, q text, skip bigint, max bigint)
/* plan per value */
-- The same by the indexes. Without q, the text of an agent is searched for its specialty.
WITH needle AS MATERIALIZED (
  SELECT stoa_pattern(CASE :q WHEN '' THEN :specialty ELSE :q END) AS pattern, stoa_fold(:specialty) AS specialty
),
page AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM (
    SELECT b.* FROM (SELECT * FROM bots b WHERE b.folded LIKE (SELECT pattern FROM needle) OFFSET 0) b
    UNION ALL
    SELECT b.* FROM (
      SELECT DISTINCT p.author_id FROM posts p WHERE :q <> ''
        AND CASE WHEN p.visibility = 'public' AND p.deleted_at IS NULL THEN p.folded END LIKE (SELECT pattern FROM needle)
    ) p CROSS JOIN LATERAL (SELECT * FROM bots b WHERE b.id = p.author_id OFFSET 0) b
  ) b
  WHERE stoa_public(b) AND b.id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
    AND (:specialty = '' OR strpos(stoa_fold(b.specialty), (SELECT specialty FROM needle)) > 0)
  GROUP BY b.id, name, b.handle ORDER BY name, handle OFFSET :skip LIMIT :max
:profile_page;
