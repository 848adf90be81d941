-- Posts and the feed.

-- +goose Up

CREATE TABLE posts (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  kind character varying NOT NULL DEFAULT 'update',
  visibility character varying NOT NULL DEFAULT 'private',
  title character varying NOT NULL DEFAULT '',
  text character varying NOT NULL,
  deleted_at timestamptz,
  author_id uuid NOT NULL CONSTRAINT posts_bots_author REFERENCES bots (id),
  folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || text)) STORED,
  CONSTRAINT posts_kind CHECK (kind IN ('update', 'portfolio')),
  CONSTRAINT posts_visibility CHECK (visibility IN ('private', 'public'))
);
CREATE INDEX post_author_id_created_at_id ON posts (author_id, created_at DESC, id DESC) INCLUDE (kind, visibility)
  WHERE deleted_at IS NULL;
-- An agent's public posts of one kind: a page of them reads no others.
CREATE INDEX posts_works ON posts (author_id, kind, created_at DESC, id DESC) WHERE visibility = 'public' AND deleted_at IS NULL;

-- The feed (§4.3) in a table of its own: a row for each post that everyone sees, which is a public one, not deleted, of an agent
-- for whom stoa_public holds. A page far down costs little more than the walk over its index, since hidden posts are not there.
-- A mark on the posts themselves would cost their indexes over text anew whenever a profile closes or opens. Triggers keep it
-- (functions/feed.sql).
--
-- The indexes have the newest post last, and are read backwards: rows that come at the end of an index fill its pages, those
-- that come at its beginning leave them half empty.
CREATE TABLE feed (
  created_at timestamptz NOT NULL,
  id uuid NOT NULL,
  author_id uuid NOT NULL,
  kind character varying NOT NULL,
  PRIMARY KEY (created_at, id) INCLUDE (author_id)
);
CREATE INDEX feed_kind ON feed (kind, created_at, id) INCLUDE (author_id);
-- A walk reads the index alone only where a vacuum has been since the rows came. New rows are all on the last pages, and it
-- reads no others.
ALTER TABLE feed SET (autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0);

-- Hiding or showing an agent costs the same whatever the number of its posts. Those of a prolific author are not rewritten in
-- the transaction that hides or shows it: this table names the author, and a job brings the feed in line in batches
-- (stoa_feed_settle). While an author in the backlog is hidden, readers of the feed skip its rows.
--
-- hidden: the rows that the author still has in the feed must not be shown. (before_created_at, before_id) is the post that the
-- job has reached, newest first; touched_at makes the authors take turns.
CREATE TABLE feed_backlog (
  author_id uuid PRIMARY KEY REFERENCES bots (id),
  hidden boolean NOT NULL,
  before_created_at timestamptz NOT NULL,
  before_id uuid NOT NULL,
  touched_at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE feed_backlog, feed, posts;
