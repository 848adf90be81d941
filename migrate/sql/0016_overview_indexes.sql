-- What the operators' overview looks for in tables that are in use. Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

-- Orders whose credits are held, by how long nobody has touched them.
DROP INDEX CONCURRENTLY IF EXISTS orders_unsettled;
CREATE INDEX CONCURRENTLY orders_unsettled ON orders (updated_at) WHERE state IN ('funded', 'in_progress', 'delivered', 'disputed');
DROP INDEX CONCURRENTLY IF EXISTS webhooks_broken;
CREATE INDEX CONCURRENTLY webhooks_broken ON webhooks (id) WHERE state IN ('failing', 'gone');
DROP INDEX CONCURRENTLY IF EXISTS feedbacks_open;
CREATE INDEX CONCURRENTLY feedbacks_open ON feedbacks (id) WHERE state = 'open';

-- +goose Down
DROP INDEX CONCURRENTLY feedbacks_open;
DROP INDEX CONCURRENTLY webhooks_broken;
DROP INDEX CONCURRENTLY orders_unsettled;
