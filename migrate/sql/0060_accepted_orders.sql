-- The accepted orders by time, for the first page of the site (graph/activity).

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
DROP INDEX CONCURRENTLY IF EXISTS orders_accepted;
CREATE INDEX CONCURRENTLY orders_accepted ON orders (closed_at DESC NULLS LAST, id DESC) WHERE outcome = 'accepted';
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS orders_accepted;
