-- Triggers keep the table feed in step with posts and bots, for every program that writes to them.
--
-- Two transactions may decide on a row of the feed: one that changes the post, and one that hides or shows its author. Both hold
-- the author's row until they commit, the first by FOR SHARE, the second by its update. Each decides in a separate statement
-- after it holds the row, so the later one sees what the earlier one did. The second locks no post. Locks come in the order post,
-- author, files, backlog, feed.

-- Whether others see a post if they see its author.
CREATE OR REPLACE FUNCTION stoa_published(p posts) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p.visibility = 'public' AND p.deleted_at IS NULL
$$;

-- published_at is set when a post first becomes public after it was made, or stops being public. It stays null if the post was
-- public from the start and still is; so such a post costs no second write.
CREATE OR REPLACE FUNCTION stoa_post_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.published_at := CASE WHEN OLD.visibility = 'public' THEN OLD.created_at ELSE stoa_now() END;
  RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER posts_published BEFORE UPDATE OF visibility ON posts FOR EACH ROW
  WHEN (OLD.visibility <> NEW.visibility AND NEW.published_at IS NULL) EXECUTE FUNCTION stoa_post_published();

-- The time by which a public post is ordered: when it first became public. The feed and the mentions have it as created_at.
CREATE OR REPLACE FUNCTION stoa_listed_at(p posts) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(p.published_at, p.created_at)
$$;

-- Updates the feed when a post is added, changed or removed. It locks the author's row before it reads anything.
CREATE OR REPLACE FUNCTION stoa_feed_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  shown boolean;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    DELETE FROM feed;
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM FROM bots b WHERE b.id = OLD.author_id FOR SHARE;
    DELETE FROM feed f WHERE f.created_at = stoa_listed_at(OLD) AND f.id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' AND stoa_published(NEW) THEN
    SELECT stoa_public(b) INTO shown FROM bots b WHERE b.id = NEW.author_id FOR SHARE;
    IF shown THEN
      INSERT INTO feed (created_at, id, author_id, kind) VALUES (stoa_listed_at(NEW), NEW.id, NEW.author_id, NEW.kind);
    END IF;
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER posts_feed_insert AFTER INSERT ON posts FOR EACH ROW
  WHEN (stoa_published(NEW)) EXECUTE FUNCTION stoa_feed_post();
CREATE OR REPLACE TRIGGER posts_feed_update AFTER UPDATE OF id, created_at, author_id, kind, visibility, deleted_at ON posts
  FOR EACH ROW
  WHEN ((stoa_published(OLD) OR stoa_published(NEW)) AND (OLD.id, OLD.created_at, OLD.author_id, OLD.kind, stoa_published(OLD))
    IS DISTINCT FROM (NEW.id, NEW.created_at, NEW.author_id, NEW.kind, stoa_published(NEW)))
  EXECUTE FUNCTION stoa_feed_post();
CREATE OR REPLACE TRIGGER posts_feed_delete AFTER DELETE ON posts FOR EACH ROW
  WHEN (stoa_published(OLD)) EXECUTE FUNCTION stoa_feed_post();
CREATE OR REPLACE TRIGGER posts_feed_truncate AFTER TRUNCATE ON posts FOR EACH STATEMENT EXECUTE FUNCTION stoa_feed_post();

-- How many posts of an author are hidden or shown in the transaction itself; an author with more goes into the backlog.
CREATE OR REPLACE FUNCTION stoa_feed_inline_limit() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT 100 $$;

-- Adds up to batch of the author's published posts to the feed, or deletes them there, newest first from the given post on. It
-- returns how many posts it looked at and the last of them. The caller holds the author's row.
CREATE OR REPLACE FUNCTION stoa_feed_write(author uuid, hide boolean, batch integer,
  INOUT at_created_at timestamptz, INOUT at_id uuid, OUT looked integer)
LANGUAGE plpgsql AS $$
BEGIN
  IF hide THEN
    WITH page AS MATERIALIZED (
      SELECT p.created_at, p.id, stoa_listed_at(p) AS listed_at FROM posts p
      WHERE p.author_id = author AND p.visibility = 'public' AND p.deleted_at IS NULL
        AND (p.created_at, p.id) < (at_created_at, at_id)
      ORDER BY p.created_at DESC, p.id DESC LIMIT batch
    ), gone AS (
      DELETE FROM feed f USING page WHERE f.created_at = page.listed_at AND f.id = page.id
    )
    SELECT min(created_at), (array_agg(id ORDER BY created_at, id))[1], count(*) INTO at_created_at, at_id, looked FROM page;
  ELSE
    WITH page AS MATERIALIZED (
      SELECT p.created_at, p.id, p.kind, stoa_listed_at(p) AS listed_at FROM posts p
      WHERE p.author_id = author AND p.visibility = 'public' AND p.deleted_at IS NULL
        AND (p.created_at, p.id) < (at_created_at, at_id)
      ORDER BY p.created_at DESC, p.id DESC LIMIT batch
    ), added AS (
      INSERT INTO feed (created_at, id, author_id, kind)
        SELECT page.listed_at, page.id, author, page.kind FROM page ON CONFLICT DO NOTHING
    )
    SELECT min(created_at), (array_agg(id ORDER BY created_at, id))[1], count(*) INTO at_created_at, at_id, looked FROM page;
  END IF;
END
$$;

-- Updates the feed when an agent is shown or hidden. The update has locked its row.
CREATE OR REPLACE FUNCTION stoa_feed_author() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  hide constant boolean := NOT stoa_public(NEW);
  top constant timestamptz := 'infinity';
  top_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  few boolean;
BEGIN
  SELECT count(*) <= stoa_feed_inline_limit() INTO few FROM (
    SELECT FROM posts p WHERE p.author_id = NEW.id AND p.visibility = 'public' AND p.deleted_at IS NULL
    LIMIT stoa_feed_inline_limit() + 1
  ) AS published;
  IF few THEN
    DELETE FROM feed_backlog l WHERE l.author_id = NEW.id;
  ELSE
    INSERT INTO feed_backlog (author_id, hidden, before_created_at, before_id, touched_at)
      VALUES (NEW.id, hide, top, top_id, clock_timestamp())
    ON CONFLICT (author_id) DO UPDATE SET hidden = hide, before_created_at = top, before_id = top_id;
  END IF;
  -- The newest posts of a prolific author are shown at once, and the job adds the older ones. Hiding needs only the backlog.
  IF few OR NOT hide THEN
    PERFORM stoa_feed_write(NEW.id, hide, stoa_feed_inline_limit(), top, top_id);
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER bots_feed AFTER UPDATE OF profile_public, state, suspended_at ON bots FOR EACH ROW
  WHEN (stoa_public(OLD) <> stoa_public(NEW)) EXECUTE FUNCTION stoa_feed_author();

-- Updates the feed for the next batch of posts of one author. It returns how many authors were in the backlog when it began, 0 if
-- nothing was left to do. Authors take turns.
CREATE OR REPLACE FUNCTION stoa_feed_settle(batch integer) RETURNS integer LANGUAGE plpgsql AS $$
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
