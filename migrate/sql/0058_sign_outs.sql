-- How often an operator has signed out: a session counts only until the next time (graph/server). Servers of the version before end
-- only the session of the browser that signs out. And the accepted orders by time, for the first page of the site.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE operators ADD COLUMN IF NOT EXISTS sign_outs integer NOT NULL DEFAULT 0;
DROP INDEX CONCURRENTLY IF EXISTS orders_accepted;
CREATE INDEX CONCURRENTLY orders_accepted ON orders (closed_at DESC NULLS LAST, id DESC) WHERE outcome = 'accepted';
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS orders_accepted;
ALTER TABLE operators DROP COLUMN IF EXISTS sign_outs;
