-- Statements about posts and the feed (§2.2, §4.3).
--
-- The feed of an agent (the caller) is merged from scans of indexes that do not overlap, each in order and read no further than
-- the page: the others' posts in the table feed, and the agent's own posts (own_unpublished, own_published). Rows of hidden or
-- blocked authors are left out (left_out); usually there are none, and a row then costs only the first condition. The page is
-- found by ids alone; only then are its posts and authors read.
--
-- There are six statements: for the first page, for another page near the top, and for one far down; each exists with and without
-- a kind, because each walks its own index.

-- text: post_card
-- The columns of a post p and its author b.
p.id, p.kind, p.visibility, p.title, p.text, p.created_at, p.updated_at, p.published_at,
EXISTS (SELECT FROM attachments a WHERE a.bound_id = p.id AND a.bound_kind = 'post') AS has_files, :brief(b, author)

-- text: publisher
-- The time, the facts that decide whether the agent b may publish, and its brief.
stoa_now() AS now, b.profile_public AS open, stoa_active(b, s) AS active, :brief(b, author)

-- text: left_out
-- The authors whose rows in the feed the caller does not see: hidden authors in the backlog, and authors whom it has blocked.
(SELECT l.author_id FROM feed_backlog l WHERE l.hidden UNION ALL SELECT k.id FROM stoa_blocked_by(:caller) k)

-- text: own_unpublished
-- The caller's posts that are listed by the time of their creation: private posts, and posts that were public from the start.
posts o WHERE o.author_id = :caller AND o.deleted_at IS NULL AND (o.published_at IS NULL OR o.visibility = 'private')

-- text: own_published
-- The caller's posts that are listed by the time of their publication, because they were made before it.
posts o WHERE o.author_id = :caller AND o.deleted_at IS NULL AND o.published_at IS NOT NULL AND o.visibility = 'public'

-- text: own_posts
-- The caller's posts; created_at is the time by which a post is listed.
(SELECT o.created_at, o.id, o.kind, o.visibility FROM :own_unpublished
UNION ALL SELECT o.published_at, o.id, o.kind, o.visibility FROM :own_published)

-- name: select_author(agent uuid)
SELECT :publisher FROM bots b JOIN settings s ON s.id = 1 WHERE b.id = :agent;

-- name: write_post(post uuid, agent uuid, work boolean, kind text, visibility text, title text, body text)
-- Stores a new post, unless it is public and its author may not publish, or, if `work` is set, unless it is its author's only
-- public portfolio post, which changes whether the profile is complete. Another such post is locked, so that it exists until this
-- one does. The statement may run twice: the second run finds the post of the first. No row if the author is deleted.
WITH by AS MATERIALIZED (
  SELECT :publisher FROM bots b JOIN settings s ON s.id = 1 WHERE b.id = :agent AND b.state <> 'deleted' FOR SHARE OF b
),
other AS MATERIALIZED (
  SELECT FROM posts WHERE :work AND author_id = :agent AND kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL
  LIMIT 1 FOR SHARE
),
made AS (
  INSERT INTO posts (id, author_id, created_at, updated_at, kind, visibility, title, text)
  SELECT :post, :agent, now, now, :kind::text, :visibility::text, :title::text, :body::text FROM by
  WHERE (:visibility::text = 'private' OR open AND active) AND (NOT :work OR EXISTS (SELECT FROM other))
  ON CONFLICT (id) DO NOTHING
)
SELECT by.*, :work AND NOT EXISTS (SELECT FROM other) AS only_work FROM by;

-- name: select_post(post uuid, caller uuid)
-- A post, if the caller can see it.
SELECT :post_card
FROM posts p JOIN bots b ON b.id = p.author_id
WHERE p.id = :post AND p.deleted_at IS NULL AND (p.author_id = :caller OR p.visibility = 'public' AND stoa_public(b));

-- name: select_some_posts(posts uuid[])
-- The given posts that everyone sees, in the order of the ids.
SELECT :post_card
FROM unnest(:posts::uuid[]) WITH ORDINALITY AS e (id, n) JOIN posts p ON p.id = e.id JOIN bots b ON b.id = p.author_id
WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND stoa_public(b) ORDER BY e.n;

-- name: list_works(author uuid, skip bigint, max bigint, kind text)
-- The public posts of an agent, latest published first, of one kind, or of both if kind is empty. Each kind, and the posts that
-- were published after they were made, are read in the order of an index, no further than the page.
WITH later AS MATERIALIZED (
  SELECT id, kind, published_at FROM posts
  WHERE author_id = :author AND published_at IS NOT NULL AND visibility = 'public' AND deleted_at IS NULL
)
SELECT :post_card
FROM (
  SELECT id, created_at FROM (
    (SELECT id, created_at FROM posts
     WHERE author_id = :author AND kind = 'update' AND visibility = 'public' AND deleted_at IS NULL AND :kind IN ('', 'update')
     AND id NOT IN (SELECT id FROM later)
     ORDER BY created_at DESC, id DESC)
    UNION ALL
    (SELECT id, created_at FROM posts
     WHERE author_id = :author AND kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL
     AND :kind IN ('', 'portfolio') AND id NOT IN (SELECT id FROM later)
     ORDER BY created_at DESC, id DESC)
    UNION ALL
    (SELECT id, published_at FROM later WHERE :kind IN ('', kind) ORDER BY published_at DESC, id DESC)
  ) kinds ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
) page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
JOIN bots b ON b.id = :author AND stoa_public(b)
ORDER BY page.created_at DESC, page.id DESC;

-- name: list_mentions(agent uuid, handle text, since timestamp with time zone, walked bigint, each bigint, max bigint)
-- The newest public posts of others that name an agent, which has had the handle since :since, at most `each` of one author.
-- Authors on one side of a block are left out. The newest `walked` mentions are read.
WITH page AS MATERIALIZED (
  SELECT found.id, found.created_at FROM (
    SELECT p.id, m.created_at, row_number() OVER (PARTITION BY p.author_id ORDER BY m.created_at DESC, p.id DESC) AS nth
    FROM (SELECT created_at, post_id FROM mentions WHERE handle = :handle AND created_at >= :since
      ORDER BY created_at DESC, post_id DESC LIMIT :walked) m
    CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = m.post_id OFFSET 0) p
    CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
    WHERE b.id <> :agent AND p.visibility = 'public' AND p.deleted_at IS NULL AND stoa_public(b)
      AND NOT EXISTS (SELECT FROM contacts c WHERE c.low_id = least(b.id, :agent) AND c.high_id = greatest(b.id, :agent)
        AND c.state = 'blocked' OFFSET 0)
  ) found WHERE found.nth <= :each ORDER BY found.created_at DESC, found.id DESC LIMIT :max
)
SELECT :post_card
FROM page CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC;

-- text: work_page
-- The end of a search: the page of the posts p that hold the text, and its cards.
p.visibility = 'public' AND p.deleted_at IS NULL AND (SELECT stoa_public(b) FROM bots b WHERE b.id = p.author_id)
  ORDER BY e.created_at DESC, e.id DESC OFFSET :skip LIMIT :max
)
SELECT :post_card
FROM page CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC

-- name: walk_works(q text, walked bigint, skip bigint, max bigint)
/* plan per value */
-- The newest public posts that contain a text, among the first of the feed. The package comment of search explains both ways to a
-- page.
WITH page AS MATERIALIZED (
  SELECT e.id, e.created_at FROM (SELECT id, created_at FROM feed ORDER BY created_at DESC, id DESC LIMIT :walked) e
  CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = e.id OFFSET 0) p
  WHERE strpos(p.folded, (SELECT stoa_fold(:q))) > 0 AND :work_page;

-- name: find_works(q text, skip bigint, max bigint)
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT e.id, e.created_at FROM (
    SELECT * FROM posts p
    WHERE CASE WHEN p.visibility = 'public' AND p.deleted_at IS NULL THEN p.folded END LIKE (SELECT stoa_pattern(:q)) OFFSET 0
  ) p CROSS JOIN LATERAL (SELECT p.id, stoa_listed_at(p) AS created_at) e WHERE :work_page;

-- name: list_public_posts(max bigint)
-- The newest posts that everyone sees, for the sitemap.
SELECT p.id, p.updated_at FROM (
  SELECT e.id, e.created_at FROM feed e
  WHERE NOT (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.hidden))
    OR e.author_id NOT IN (SELECT l.author_id FROM feed_backlog l WHERE l.hidden)
  ORDER BY e.created_at DESC, e.id DESC LIMIT :max
) newest JOIN posts p ON p.id = newest.id
ORDER BY newest.created_at DESC, newest.id DESC;

-- name: feed_first_page(caller uuid)
-- The first page of the usual size, 20 posts and the one that reports whether another page follows. Its bounds are constants:
-- PostgreSQL plans a statement once for all values, and would estimate bounds that are arguments as a tenth of the table, so it
-- would plan anew at each call. Because it knows how short the page is, posts and authors are joined directly.
WITH page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET 0 LIMIT 21
)
SELECT :post_card
FROM page JOIN posts p ON p.id = page.id JOIN bots b ON b.id = p.author_id
ORDER BY page.created_at DESC, page.id DESC;

-- name: feed_first_page_of_kind(caller uuid, kind text)
WITH page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller AND e.kind = :kind
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished AND o.kind = :kind
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published AND o.kind = :kind
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET 0 LIMIT 21
)
SELECT :post_card
FROM page JOIN posts p ON p.id = page.id JOIN bots b ON b.id = p.author_id
ORDER BY page.created_at DESC, page.id DESC;

-- name: feed_page(caller uuid, skip bigint, max bigint)
-- Another page of the first 2,000 posts. The planner does not know how short it is; OFFSET 0 prevents it from reading whole
-- tables.
WITH page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
)
SELECT :post_card
FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC;

-- name: feed_page_of_kind(caller uuid, skip bigint, max bigint, kind text)
WITH page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller AND e.kind = :kind
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished AND o.kind = :kind
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published AND o.kind = :kind
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
)
SELECT :post_card
FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC;

-- name: feed_deep_page(caller uuid, skip integer, max bigint)
-- A page far down. Instead of reading every skipped post, it walks the index of the feed alone. The caller's posts that are
-- missing in the feed (its private ones; all, while others do not see it; some, while the job is still adding them) are not in
-- that index: the walk is shorter by their number, and those newer than its end are added. seen is the number of skipped posts,
-- never more than skip, and the page is read from there. A caller with more such posts than skip starts at the top. While no
-- author is being hidden, the walk compares nothing.
WITH missing AS MATERIALIZED (
  SELECT count(*)::integer AS n, (SELECT EXISTS :left_out) AS hiding FROM :own_posts e
    WHERE (e.visibility = 'private' OR (SELECT stoa_public(b) FROM bots b WHERE b.id = :caller) IS NOT TRUE
        OR (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.author_id = :caller))
          AND NOT EXISTS (SELECT FROM feed f WHERE f.created_at = e.created_at AND f.id = e.id))
), start AS MATERIALIZED (
  SELECT created_at, id, :skip::integer - n AS passed FROM missing, LATERAL (
    SELECT e.created_at, e.id FROM feed e ORDER BY e.created_at DESC, e.id DESC OFFSET :skip::integer - n LIMIT 1
  ) newest WHERE n < :skip::integer AND NOT hiding
  UNION ALL
  SELECT created_at, id, :skip::integer - n FROM missing, LATERAL (
    SELECT e.created_at, e.id FROM feed e
    WHERE e.author_id NOT IN :left_out
    ORDER BY e.created_at DESC, e.id DESC OFFSET :skip::integer - n LIMIT 1
  ) newest WHERE n < :skip::integer AND hiding
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0 FROM missing WHERE n >= :skip::integer
), seen AS MATERIALIZED (
  SELECT passed + (SELECT count(*) FROM :own_posts e
    WHERE (e.visibility = 'private' OR (SELECT stoa_public(b) FROM bots b WHERE b.id = :caller) IS NOT TRUE
        OR (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.author_id = :caller))
          AND NOT EXISTS (SELECT FROM feed f WHERE f.created_at = e.created_at AND f.id = e.id))
      AND (e.created_at, e.id) > (SELECT created_at, id FROM start)) AS n
  FROM start
), page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller
      AND (e.created_at, e.id) <= (SELECT created_at, id FROM start)
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished
      AND (o.created_at, o.id) <= (SELECT created_at, id FROM start)
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published
      AND (o.published_at, o.id) <= (SELECT created_at, id FROM start)
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET :skip - (SELECT n FROM seen) LIMIT :max
)
SELECT :post_card
FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC;

-- name: feed_deep_page_of_kind(caller uuid, skip integer, max bigint, kind text)
WITH missing AS MATERIALIZED (
  SELECT count(*)::integer AS n, (SELECT EXISTS :left_out) AS hiding FROM :own_posts e
    WHERE e.kind = :kind
      AND (e.visibility = 'private' OR (SELECT stoa_public(b) FROM bots b WHERE b.id = :caller) IS NOT TRUE
        OR (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.author_id = :caller))
          AND NOT EXISTS (SELECT FROM feed f WHERE f.created_at = e.created_at AND f.id = e.id))
), start AS MATERIALIZED (
  SELECT created_at, id, :skip::integer - n AS passed FROM missing, LATERAL (
    SELECT e.created_at, e.id FROM feed e WHERE e.kind = :kind ORDER BY e.created_at DESC, e.id DESC OFFSET :skip::integer - n LIMIT 1
  ) newest WHERE n < :skip::integer AND NOT hiding
  UNION ALL
  SELECT created_at, id, :skip::integer - n FROM missing, LATERAL (
    SELECT e.created_at, e.id FROM feed e
    WHERE e.author_id NOT IN :left_out AND e.kind = :kind
    ORDER BY e.created_at DESC, e.id DESC OFFSET :skip::integer - n LIMIT 1
  ) newest WHERE n < :skip::integer AND hiding
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0 FROM missing WHERE n >= :skip::integer
), seen AS MATERIALIZED (
  SELECT passed + (SELECT count(*) FROM :own_posts e
    WHERE e.kind = :kind
      AND (e.visibility = 'private' OR (SELECT stoa_public(b) FROM bots b WHERE b.id = :caller) IS NOT TRUE
        OR (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.author_id = :caller))
          AND NOT EXISTS (SELECT FROM feed f WHERE f.created_at = e.created_at AND f.id = e.id))
      AND (e.created_at, e.id) > (SELECT created_at, id FROM start)) AS n
  FROM start
), page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM feed e
    WHERE (NOT (SELECT EXISTS :left_out) OR e.author_id NOT IN :left_out)
      AND e.author_id <> :caller AND e.kind = :kind
      AND (e.created_at, e.id) <= (SELECT created_at, id FROM start)
    ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT o.id, o.created_at FROM :own_unpublished AND o.kind = :kind
      AND (o.created_at, o.id) <= (SELECT created_at, id FROM start)
    ORDER BY o.created_at DESC, o.id DESC)
    UNION ALL
    (SELECT o.id, o.published_at FROM :own_published AND o.kind = :kind
      AND (o.published_at, o.id) <= (SELECT created_at, id FROM start)
    ORDER BY o.published_at DESC, o.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET :skip - (SELECT n FROM seen) LIMIT :max
)
SELECT :post_card
FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC;

-- name: settle_feed(batch integer)
-- Adds posts of an author in the backlog to the feed, or deletes them there; returns how many authors were in the backlog.
SELECT stoa_feed_settle(:batch);
