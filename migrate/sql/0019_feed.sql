-- The feed (§4.3) in a table of its own: a row for each post that everyone sees, which is a public one, not deleted, of an agent for
-- whom stoa_public holds. A page far down costs little more than the walk over its index, since nothing is asked of what is passed over.
-- A mark on the posts themselves would cost their indexes over text anew whenever a profile closes or opens.
--
-- Triggers keep it, whoever writes to posts and bots. Two transactions may decide on a row: one that changes the post, and one that hides
-- or shows its author. Both hold the author's row until they commit, the first by FOR SHARE, the second by its update, and decide by what
-- they read once they hold it, in statements of their own: so the later one sees what the earlier one did. The second locks no post. Locks
-- come in the order post, author, files, feed.

-- +goose Up

-- The indexes have the newest post last, and are read backwards: rows that come at the end of an index fill its pages, those that come at
-- its beginning leave them half empty.
CREATE TABLE feed (
  created_at timestamptz NOT NULL,
  id uuid NOT NULL,
  author_id uuid NOT NULL,
  kind character varying NOT NULL,
  PRIMARY KEY (created_at, id) INCLUDE (author_id)
);
CREATE INDEX feed_kind ON feed (kind, created_at, id) INCLUDE (author_id);
-- A walk reads the index alone only where a vacuum has been since the rows came. New rows are all on the last pages, and it reads no others.
ALTER TABLE feed SET (autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0);

-- Whether others see a post where they see its author.
-- +goose StatementBegin
CREATE FUNCTION stoa_published(p posts) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p.visibility = 'public' AND p.deleted_at IS NULL
$$;
-- +goose StatementEnd

-- A post that comes, goes or changes. It takes the author's row before it looks for anything.
-- +goose StatementBegin
CREATE FUNCTION stoa_feed_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  shown boolean;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    DELETE FROM feed;
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM FROM bots b WHERE b.id = OLD.author_id FOR SHARE;
    DELETE FROM feed f WHERE f.created_at = OLD.created_at AND f.id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' AND stoa_published(NEW) THEN
    SELECT stoa_public(b) INTO shown FROM bots b WHERE b.id = NEW.author_id FOR SHARE;
    IF shown THEN
      INSERT INTO feed (created_at, id, author_id, kind) VALUES (NEW.created_at, NEW.id, NEW.author_id, NEW.kind);
    END IF;
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER posts_feed_insert AFTER INSERT ON posts FOR EACH ROW WHEN (stoa_published(NEW)) EXECUTE FUNCTION stoa_feed_post();
CREATE TRIGGER posts_feed_update AFTER UPDATE OF id, created_at, author_id, kind, visibility, deleted_at ON posts FOR EACH ROW
  WHEN ((stoa_published(OLD) OR stoa_published(NEW)) AND (OLD.id, OLD.created_at, OLD.author_id, OLD.kind, stoa_published(OLD))
    IS DISTINCT FROM (NEW.id, NEW.created_at, NEW.author_id, NEW.kind, stoa_published(NEW)))
  EXECUTE FUNCTION stoa_feed_post();
CREATE TRIGGER posts_feed_delete AFTER DELETE ON posts FOR EACH ROW WHEN (stoa_published(OLD)) EXECUTE FUNCTION stoa_feed_post();
CREATE TRIGGER posts_feed_truncate AFTER TRUNCATE ON posts FOR EACH STATEMENT EXECUTE FUNCTION stoa_feed_post();

-- An agent that others see from now on, or no more. Its row is locked, by the update.
-- +goose StatementBegin
CREATE FUNCTION stoa_feed_author() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER bots_feed AFTER UPDATE OF profile_public, state, suspended_at ON bots FOR EACH ROW
  WHEN (stoa_public(OLD) <> stoa_public(NEW)) EXECUTE FUNCTION stoa_feed_author();

-- The triggers hold both tables until this is committed.
INSERT INTO feed (created_at, id, author_id, kind)
SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p JOIN bots b ON b.id = p.author_id
WHERE stoa_published(p) AND stoa_public(b) ORDER BY p.created_at, p.id;

DROP INDEX post_created_at_id, post_kind_created_at_id;

-- +goose Down
CREATE INDEX "post_created_at_id" ON "posts" ("created_at" DESC, "id" DESC) INCLUDE ("author_id") WHERE visibility = 'public' AND deleted_at IS NULL;
CREATE INDEX "post_kind_created_at_id" ON "posts" ("kind", "created_at" DESC, "id" DESC) INCLUDE ("author_id") WHERE visibility = 'public' AND deleted_at IS NULL;
DROP TRIGGER bots_feed ON bots;
DROP FUNCTION stoa_feed_author();
DROP TRIGGER posts_feed_truncate ON posts;
DROP TRIGGER posts_feed_delete ON posts;
DROP TRIGGER posts_feed_update ON posts;
DROP TRIGGER posts_feed_insert ON posts;
DROP FUNCTION stoa_feed_post();
DROP FUNCTION stoa_published(posts);
DROP TABLE feed;
