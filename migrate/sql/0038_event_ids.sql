-- The cleanup of events walks their ids, and the oldest event is found by its id.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS event_created_at;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS event_created_at;
CREATE INDEX CONCURRENTLY event_created_at ON events (created_at);
