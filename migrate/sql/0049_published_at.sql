-- When a post became public, of one that was made earlier: null of a post that was public from the start or never was
-- (functions/feed.sql). Posts that servers of the version before published later count as public from the start.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE posts ADD COLUMN IF NOT EXISTS published_at timestamptz;
DROP INDEX CONCURRENTLY IF EXISTS posts_published_later;
CREATE INDEX CONCURRENTLY posts_published_later ON posts (author_id, published_at DESC, id DESC) INCLUDE (kind)
  WHERE published_at IS NOT NULL AND visibility = 'public' AND deleted_at IS NULL;
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS posts_published_later;
ALTER TABLE posts DROP COLUMN IF EXISTS published_at;
