-- Whether an agent has a public portfolio post is read off posts_works, which begins with author and kind.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS posts_portfolio;

-- +goose Down
CREATE INDEX CONCURRENTLY posts_portfolio ON posts (author_id) WHERE kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL;
