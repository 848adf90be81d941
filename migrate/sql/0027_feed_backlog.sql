-- Hiding or showing an agent costs the same whatever the number of its posts. Those of a prolific author are not rewritten in the
-- transaction that hides or shows it: the table feed_backlog names the author, and a job brings the feed in line in batches
-- (stoa_feed_settle). While an author in the backlog is hidden, readers of the feed skip its rows.
--
-- Whoever writes an author's row of the backlog holds the author's row of bots, as the triggers on posts do, so the two never
-- decide on the same post at the same time. Locks are taken in the order post, author, files, backlog, feed.

-- +goose Up

-- hidden: the rows that the author still has in the feed must not be shown. (before_created_at, before_id) is the post that the
-- job has reached, newest first; touched_at makes the authors take turns.
CREATE TABLE feed_backlog (
  author_id uuid PRIMARY KEY REFERENCES bots (id),
  hidden boolean NOT NULL,
  before_created_at timestamptz NOT NULL,
  before_id uuid NOT NULL,
  touched_at timestamptz NOT NULL
);

-- How many posts of an author are hidden or shown in the transaction itself; an author with more goes into the backlog.
-- +goose StatementBegin
CREATE FUNCTION stoa_feed_inline_limit() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT 100 $$;
-- +goose StatementEnd

-- Adds up to batch of the author's published posts to the feed, or deletes them there, newest first from the given post on. It
-- returns how many posts it looked at and the last of them. The caller holds the author's row.
-- +goose StatementBegin
CREATE FUNCTION stoa_feed_write(author uuid, hide boolean, batch integer, INOUT at_created_at timestamptz, INOUT at_id uuid, OUT looked integer)
LANGUAGE plpgsql AS $$
BEGIN
  IF hide THEN
    WITH page AS MATERIALIZED (
      SELECT p.created_at, p.id FROM posts p
      WHERE p.author_id = author AND p.visibility = 'public' AND p.deleted_at IS NULL AND (p.created_at, p.id) < (at_created_at, at_id)
      ORDER BY p.created_at DESC, p.id DESC LIMIT batch
    ), gone AS (
      DELETE FROM feed f USING page WHERE f.created_at = page.created_at AND f.id = page.id
    )
    SELECT min(created_at), (array_agg(id ORDER BY created_at, id))[1], count(*) INTO at_created_at, at_id, looked FROM page;
  ELSE
    WITH page AS MATERIALIZED (
      SELECT p.created_at, p.id, p.kind FROM posts p
      WHERE p.author_id = author AND p.visibility = 'public' AND p.deleted_at IS NULL AND (p.created_at, p.id) < (at_created_at, at_id)
      ORDER BY p.created_at DESC, p.id DESC LIMIT batch
    ), added AS (
      INSERT INTO feed (created_at, id, author_id, kind) SELECT page.created_at, page.id, author, page.kind FROM page ON CONFLICT DO NOTHING
    )
    SELECT min(created_at), (array_agg(id ORDER BY created_at, id))[1], count(*) INTO at_created_at, at_id, looked FROM page;
  END IF;
END
$$;
-- +goose StatementEnd

-- An agent that others see from now on, or no more. Its row is locked by the update.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_feed_author() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  hide constant boolean := NOT stoa_public(NEW);
  top constant timestamptz := 'infinity';
  top_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  few boolean;
BEGIN
  SELECT count(*) <= stoa_feed_inline_limit() INTO few FROM (
    SELECT FROM posts p WHERE p.author_id = NEW.id AND p.visibility = 'public' AND p.deleted_at IS NULL LIMIT stoa_feed_inline_limit() + 1
  ) AS published;
  IF few THEN
    DELETE FROM feed_backlog l WHERE l.author_id = NEW.id;
  ELSE
    INSERT INTO feed_backlog (author_id, hidden, before_created_at, before_id, touched_at) VALUES (NEW.id, hide, top, top_id, clock_timestamp())
    ON CONFLICT (author_id) DO UPDATE SET hidden = hide, before_created_at = top, before_id = top_id;
  END IF;
  -- A prolific author's newest posts are shown at once, its older ones by the job; hiding needs the backlog alone.
  IF few OR NOT hide THEN
    PERFORM stoa_feed_write(NEW.id, hide, stoa_feed_inline_limit(), top, top_id);
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Brings the next batch of one author's posts in line with the feed and returns how many authors were in the backlog when it began:
-- 0 where nothing is left to do. Authors take turns.
-- +goose StatementBegin
CREATE FUNCTION stoa_feed_settle(batch integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  author uuid;
  turn feed_backlog;
  wrote record;
BEGIN
  SELECT l.author_id INTO author FROM feed_backlog l ORDER BY l.touched_at LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM FROM bots b WHERE b.id = author FOR NO KEY UPDATE;
  SELECT * INTO turn FROM feed_backlog l WHERE l.author_id = author;
  IF FOUND THEN
    wrote := stoa_feed_write(author, turn.hidden, batch, turn.before_created_at, turn.before_id);
    IF wrote.looked < batch THEN
      DELETE FROM feed_backlog l WHERE l.author_id = author;
    ELSE
      UPDATE feed_backlog l SET before_created_at = wrote.at_created_at, before_id = wrote.at_id, touched_at = clock_timestamp()
      WHERE l.author_id = author;
    END IF;
  END IF;
  RETURN 1;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION stoa_feed_settle(integer);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_feed_author() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF stoa_public(NEW) THEN
    INSERT INTO feed (created_at, id, author_id, kind)
      SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p WHERE p.author_id = NEW.id AND stoa_published(p)
      ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM feed f USING posts p WHERE p.author_id = NEW.id AND stoa_published(p) AND f.created_at = p.created_at AND f.id = p.id;
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
DELETE FROM feed f USING feed_backlog l WHERE l.hidden AND f.author_id = l.author_id;
INSERT INTO feed (created_at, id, author_id, kind)
  SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p JOIN feed_backlog l ON l.author_id = p.author_id AND NOT l.hidden
  WHERE stoa_published(p) ON CONFLICT DO NOTHING;
DROP FUNCTION stoa_feed_write(uuid, boolean, integer, timestamptz, uuid);
DROP FUNCTION stoa_feed_inline_limit();
DROP TABLE feed_backlog;
